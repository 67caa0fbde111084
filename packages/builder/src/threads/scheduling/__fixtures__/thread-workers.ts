import type { Store } from '../../../persistence/store.js';
import { jobOfTurn } from '../../contract/coding-turn-spec.wire.js';
import type { CodingWorkers, WorkerRun } from '../../execution/coding-workers.js';
import { result } from '../../store/__fixtures__/thread-bench.js';
import type { OpenThread } from '../../store/open-thread.js';
import { createThreadStore } from '../../store/thread-store.js';
import { describeWorkerError } from '../../worker/worker-error.js';
import type { WorkerEnd } from '../../worker/worker-spec.js';
import { outcomeOf } from './fake-workers.js';

/** How far a worker comes with its thread before it is gone. */
export type Reach = 'nothing' | 'claimed' | 'turn_submitted' | 'result_validated' | 'committed';

/** Takes one turn of a worker's thread, as far as it is to come. */
export async function takeThreadTurn(
  store: Store,
  { spec }: WorkerRun,
  reach: Reach = 'committed',
): Promise<WorkerEnd> {
  const opening = { job: jobOfTurn(spec.turn), trusted: spec.trusted };
  try {
    const { thread, replayed } = await createThreadStore(store).open(opening);
    if (!thread) return { class: 'success', outcome: replayed };
    await using opened = thread;
    return await advance(opened, reach);
  } catch (error) {
    return { class: 'failed', error: describeWorkerError(error) };
  }
}

async function advance(thread: OpenThread, reach: Reach): Promise<WorkerEnd> {
  const gone: WorkerEnd = { class: 'unknown', reason: `it came to ${reach}` };
  if (reach === 'nothing') return gone;
  await thread.claim();
  if (reach === 'claimed') return gone;
  await thread.noteNative('native-1');
  await thread.noteTurn('turn-1');
  if (reach === 'turn_submitted') return gone;
  await thread.noteResult(result);
  if (reach === 'result_validated') return gone;
  return { class: 'success', outcome: await thread.commit() };
}

/** Workers that commit to real threads, and count how often each operation was run. */
export function createThreadWorkers(store: Store): CodingWorkers & {
  readonly runs: WorkerRun[];
} {
  const runs: WorkerRun[] = [];
  return {
    runs,
    capabilityDigest: async () => `sha256:${'b'.repeat(64)}`,
    run: async (run) => {
      runs.push(run);
      if (run.spec.turn.thread) return await takeThreadTurn(store, run);
      return { class: 'success', outcome: outcomeOf(run) };
    },
  };
}
