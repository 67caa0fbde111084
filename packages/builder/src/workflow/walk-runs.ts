import { isoInstant, isTurnError, systemClock } from '@holdfast/agent';
import { mapAtMost } from '../engine/at-most.js';
import { EXECUTIONS_QUEUE } from '../executions/execution-context.js';
import { encodeExecutionJob } from '../executions/execution-job.wire.js';
import { type ExecutionKey, executionIdOf } from '../executions/execution-key.js';
import { keys } from '../persistence/keys.js';
import type { Store, StoreKey } from '../persistence/store.js';
import type { ContinuationState } from './continuation-state.js';
import { readContinuationState } from './continuation-state-file.js';
import { compareInstants } from './instant-order.js';
import {
  isNoFolder,
  listRunFolders,
  type OutsideStep,
  type StrayPlace,
} from './list-run-folders.js';
import { readOwedText, readOwedWork } from './owed-work.wire.js';
import { judgeState, queueRecovery, type RecoveryContext, reportOf } from './recover-executions.js';
import type { ExecutionRecovery, Verdict } from './recovery-report.js';

/** What a walk over every state file found. `found` are those that owed something and had no job. */
export interface WalkReport extends ExecutionRecovery {
  /** How many state files were read. */
  readonly visited: number;
  /** What stands where no execution can, or could not be read. */
  readonly strays: readonly StrayPlace[];
}

/** How a walk is made. */
export interface WalkOptions {
  readonly signal?: AbortSignal | undefined;
}

const AT_ONCE = 32;
/** How many state files are asked for at once where the store can look at many. */
const IN_ONE_READ = 128;

/**
 * Reads every state file, and gives a job to each execution that owes something and has none: after a data directory came from
 * elsewhere, from the system before this one, or lost its markers. Where each has its job it changes nothing.
 */
export async function walkRuns(
  context: RecoveryContext,
  { signal }: WalkOptions = {},
): Promise<WalkReport> {
  const { store, engine } = context;
  const jobs = new Set((await engine.list(EXECUTIONS_QUEUE)).map(({ id }) => id));
  const { steps, outside, strays } = await listRunFolders(store, signal);
  const looks: Look[] = [];
  for (let from = 0; from < steps.length; from += IN_ONE_READ) {
    signal?.throwIfAborted();
    looks.push(...(await lookAtSome(context, steps.slice(from, from + IN_ONE_READ), jobs)));
  }
  const looksOutside = await mapAtMost(AT_ONCE, outside, (step) => lookOutside(store, step));
  const owing = looks.flatMap(({ owing: one }) => one ?? []);
  const verdicts: Verdict[] = [];
  // In this order, since jobs are begun in the order in which they came.
  for (const one of owing.toSorted((a, b) => compareInstants(a.createdAt, b.createdAt))) {
    signal?.throwIfAborted();
    verdicts.push(await giveJob(context, one));
  }
  await store.write(walkedKey(), { schema_version: 1, walked_at: isoInstant(systemClock) });
  const all = [...looks, ...looksOutside];
  return {
    ...reportOf(verdicts),
    visited: all.filter(({ isThere }) => isThere).length,
    strays: [...strays, ...all.flatMap(({ stray }) => stray ?? [])],
  };
}

/** The walk that a data directory without any record of one needs before its work begins; `undefined` where it has one. */
export async function walkOnce(context: RecoveryContext): Promise<WalkReport | undefined> {
  const read = await context.store.read(walkedKey());
  return read.state === 'present' ? undefined : await walkRuns(context);
}

/** Walks beside the work, until closing. What goes wrong is logged: every job that is known runs without it. */
export async function walkBeside(context: RecoveryContext, closing: AbortSignal): Promise<void> {
  try {
    const { visited, queued, left, strays } = await walkRuns(context, { signal: closing });
    if (queued.length + left.length + strays.length === 0) return;
    const counts = { visited, queued: queued.length, left: left.length, strays: strays.length };
    context.logger?.warn(counts, 'runs repaired');
  } catch (error) {
    if (!closing.aborted) context.logger?.warn({ err: error }, 'runs not walked');
  }
}

function walkedKey(): StoreKey {
  return [...keys.jobs(EXECUTIONS_QUEUE).slice(0, -1), 'walked.json'];
}

interface Look {
  readonly isThere: boolean;
  readonly owing?: ContinuationState | undefined;
  readonly stray?: StrayPlace | undefined;
}

const FINISHED: Look = { isThere: true };

/** Most of them are finished, and say so in their text. */
async function lookAtSome(
  context: RecoveryContext,
  steps: readonly ExecutionKey[],
  jobs: ReadonlySet<string>,
): Promise<readonly Look[]> {
  const texts = (await context.store.readTexts?.(steps.map(keys.state))) ?? [];
  const looks = steps.map((key, index) => {
    const text = texts[index];
    return { key, isFinished: text !== undefined && readOwedText(text) === 'nothing' };
  });
  return await mapAtMost(AT_ONCE, looks, async ({ key, isFinished }) =>
    isFinished ? FINISHED : await lookAt(context, key, jobs),
  );
}

async function lookAt(
  context: RecoveryContext,
  key: ExecutionKey,
  jobs: ReadonlySet<string>,
): Promise<Look> {
  const { store } = context;
  const place = keys.state(key);
  try {
    if (jobs.has(executionIdOf(key))) return { isThere: true };
    const read = await store.read(place);
    if (read.state === 'absent') return { isThere: false };
    if (read.state === 'present' && readOwedWork(read.value) === 'nothing')
      return { isThere: true };
    const whole = await readContinuationState(store, key);
    if (whole.state === 'absent') return { isThere: false };
    if (whole.state === 'present') {
      const { owes } = judgeState(context, whole.value);
      return owes ? { isThere: true, owing: whole.value } : { isThere: true };
    }
    const why = `${whole.reason}; it was set aside as ${whole.movedTo}`;
    return { isThere: true, stray: { place: place.join('/'), reason: 'damaged', why } };
  } catch (error) {
    return lookAfter(place, error);
  }
}

/** No execution can stand there, so that nothing is begun; what owes something is told. */
async function lookOutside(store: Store, { folder, reason }: OutsideStep): Promise<Look> {
  const place = [...folder, 'continuation_state.json'];
  try {
    const read = await store.read(place);
    if (read.state === 'absent') return { isThere: false };
    if (read.state === 'present' && readOwedWork(read.value) === 'nothing')
      return { isThere: true };
    const why = 'it owes something; move its folder to runs/{iteration}/{group}/logs/{step}';
    return { isThere: true, stray: { place: place.join('/'), reason, why } };
  } catch (error) {
    return lookAfter(place, error);
  }
}

function lookAfter(place: StoreKey, error: unknown): Look {
  if (!isTurnError(error) || error.kind !== 'state_unusable') throw error;
  if (isNoFolder(error)) return { isThere: false };
  const stray = { place: place.join('/'), reason: 'unreadable', why: error.message } as const;
  return { isThere: true, stray };
}

/** The state first: a crash before the job is found by the next walk, and a job never finds a state it cannot drive. */
async function giveJob(
  context: RecoveryContext,
  { executionId, createdAt, schemaVersion }: ContinuationState,
): Promise<Verdict> {
  const verdict = await queueRecovery(context, executionId, createdAt);
  // One of schema 1 that is left cannot be driven; one of ours waits in the queue for what it lacks.
  if (verdict.reason === undefined || schemaVersion > 1) {
    const payload = encodeExecutionJob({ executionId });
    await context.engine.enqueue(EXECUTIONS_QUEUE, executionId, payload);
  }
  return verdict;
}
