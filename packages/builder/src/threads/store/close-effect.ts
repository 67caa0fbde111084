import type { Clock } from '@holdfast/agent';

/** What an adapter does to end a native conversation. Without an archive of its own, our tombstone is all there is. */
export type CloseEffect =
  | { readonly archive: 'tombstone' }
  | {
      readonly archive: 'native';
      /** Resolves once the archive is proven. The signal says that nobody waits for it any longer. */
      readonly run: (nativeId: string, signal: AbortSignal) => Promise<void>;
    };

/** How a conversation is to be ended, and in what time. */
export interface CloseOptions {
  readonly effect: CloseEffect;
  /** What is left of the job's time; without a deadline, the archive has its own limit alone. */
  readonly remainingMs?: number | undefined;
}

const ARCHIVE_LIMIT_MS = 10_000;
const DELIVERY_RESERVE_MS = 5_000;

/** How long an archive may take, so that enough is left to deliver the result; 0 or less: not at all. */
export function archiveBudgetMs(remainingMs = Number.POSITIVE_INFINITY): number {
  return Math.min(ARCHIVE_LIMIT_MS, remainingMs - DELIVERY_RESERVE_MS);
}

/** Why there is no time to close; `undefined` where there is. */
export function findLackOfTime({ effect, remainingMs }: CloseOptions): string | undefined {
  if (effect.archive === 'tombstone' || archiveBudgetMs(remainingMs) > 0) return undefined;
  return 'no time is left to archive it';
}

/** Archives within the budget; says why that is not proven. */
export async function archiveNatively(
  { effect, remainingMs }: CloseOptions,
  nativeId: string,
  clock: Clock,
): Promise<string | undefined> {
  if (effect.archive === 'tombstone') return undefined;
  const budgetMs = archiveBudgetMs(remainingMs);
  const ended = new AbortController();
  const late = clock.sleep(budgetMs, ended.signal).then(
    () => `the archive did not answer within ${budgetMs / 1000}s`,
    () => undefined,
  );
  const done = runEffect(effect.run, nativeId, ended.signal);
  try {
    return await Promise.race([done, late]);
  } finally {
    ended.abort();
  }
}

async function runEffect(
  run: (nativeId: string, signal: AbortSignal) => Promise<void>,
  nativeId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await run(nativeId, signal);
    return undefined;
  } catch (error) {
    return describeFailure(error);
  }
}

/** A failure as one line for a receipt. */
export function describeFailure(error: unknown): string {
  return `it failed: ${error instanceof Error ? error.message : String(error)}`.slice(0, 500);
}
