import type { CodingOutcome } from '../coding-job.js';
import { jobOfTurn } from '../contract/coding-turn-spec.wire.js';
import type { OpenThread } from '../store/open-thread.js';
import type { ThreadResult } from '../store/thread-record.js';
import { createThreadStore, type ThreadOpening } from '../store/thread-store.js';
import type { ValidatedJob } from './job-run.js';

/** What a turn needs of a thread; a job without a directive has one of which nothing is kept. */
export type JobThread = Pick<
  OpenThread,
  | 'patch'
  | 'adapterState'
  | 'claim'
  | 'noteNative'
  | 'noteTurn'
  | 'noteResult'
  | 'fail'
  | 'commit'
  | 'closeAfterTurn'
>;

/** The thread of a job under lock, or the stored outcome of a job that was done already. Writes nothing. */
export async function openJobThread({
  spec,
  store,
  clock,
  coding,
  enter,
}: ValidatedJob): Promise<ThreadOpening> {
  enter('open_thread');
  const opening = { job: jobOfTurn(coding), trusted: spec.trusted };
  return await createThreadStore(store, { clock }).open(opening);
}

/** Stands in for the thread of a job without a directive: it begins empty, and nothing of it is kept. */
export function createEphemeralThread(operationId: string): JobThread {
  let result: ThreadResult | undefined;
  const commit = async (): Promise<CodingOutcome> => {
    if (!result) throw new TypeError('There is no validated result to commit.');
    return { ...result.outcome, operationId };
  };
  return {
    patch: undefined,
    adapterState: undefined,
    claim: async () => {},
    noteNative: async () => {},
    noteTurn: async () => {},
    noteResult: async (validated) => {
      result = validated;
    },
    fail: async () => {},
    commit,
    closeAfterTurn: commit,
  };
}
