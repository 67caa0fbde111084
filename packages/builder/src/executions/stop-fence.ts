import { systemClock } from '@holdfast/agent';
import { keys } from '../persistence/keys.js';
import type { Store } from '../persistence/store.js';
import type { ContinuationState } from '../workflow/continuation-state.js';
import { findRunStop } from '../workflow/stop-run.js';
import { ExecutionStoppedError } from '../workflow/workflow-error.js';
import { readExecutionId } from './execution-key.js';
import { findState } from './execution-state.js';

/** How long an owner's owners are followed; a file that names itself must not hold anybody up. */
const MOST_OWNERS = 32;

/** Writes the stop fence. The first reason stays. */
export async function writeStop(store: Store, executionId: string, reason: string): Promise<void> {
  await store.write(keys.stop(readExecutionId(executionId)), { reason }, { mode: 'create' });
}

/** Why an execution may not go on: it was stopped, or what owns it, or the run it stands in. */
export async function findStop(
  store: Store,
  state: Pick<ContinuationState, 'executionId' | 'owner'>,
): Promise<string | undefined> {
  let one: Pick<ContinuationState, 'executionId' | 'owner'> | undefined = state;
  for (let count = 0; one && count < MOST_OWNERS; count += 1) {
    const stop: string | undefined = await findOwnStop(store, one.executionId);
    if (stop !== undefined) return stop;
    const { owner }: Pick<ContinuationState, 'owner'> = one;
    one =
      owner?.kind === 'execution'
        ? await findState(store, readExecutionId(owner.executionId))
        : undefined;
  }
  return undefined;
}

async function findOwnStop(store: Store, executionId: string): Promise<string | undefined> {
  const key = readExecutionId(executionId);
  const read = await store.read(keys.stop(key));
  if (read.state === 'present') return readReason(read.value);
  // A fence that cannot be read still fences.
  if (read.state === 'damaged') return 'stopped';
  return await findRunStop(store, key);
}

function readReason(value: unknown): string {
  const isFence = (one: unknown): one is { readonly reason: unknown } =>
    typeof one === 'object' && one !== null && 'reason' in one;
  return isFence(value) ? String(value.reason) : 'stopped';
}

/** How often a fence that another process may write is looked for. */
const LOOK_MS = 250;

/** Aborts its signal as soon as the execution is stopped, by whichever process. */
export function watchStop(
  store: Store,
  state: Pick<ContinuationState, 'executionId' | 'owner'>,
): Disposable & { readonly signal: AbortSignal } {
  const over = new AbortController();
  const stopped = new AbortController();
  const watch = async () => {
    while (!over.signal.aborted) {
      await systemClock.sleep(LOOK_MS, over.signal);
      // A fence that cannot be looked for now is looked for again.
      const stop = await findStop(store, state).catch(() => undefined);
      if (stop !== undefined)
        return stopped.abort(new ExecutionStoppedError(state.executionId, stop));
    }
  };
  // Only the end of the watch ends the sleep.
  watch().catch(() => {});
  return { signal: stopped.signal, [Symbol.dispose]: () => over.abort() };
}
