import { type Clock, systemClock } from '@holdfast/agent';
import type { Store } from '../../persistence/store.js';
import type { CodingJobInput, CodingOutcome } from '../coding-job.js';
import { digestJob } from '../contract/coding-job.wire.js';
import { bindJob, type TrustedBinding } from '../contract/thread-binding.js';
import { buryThreads, type ReclaimThread } from './bury-threads.js';
import { judgeDirective, type ThreadAsk } from './judge-directive.js';
import { OpenThread } from './open-thread.js';
import {
  abandonThread,
  adoptOutcome,
  rollBackThread,
  type ThreadDecision,
  type TurnInDoubt,
  type TurnProof,
} from './recover-thread.js';
import {
  lockThread,
  nameThread,
  readThread,
  type ThreadFiles,
  type ThreadPlace,
} from './thread-files.js';
import { type ThreadView, viewThread } from './thread-view.js';

/** An opened thread, or the stored outcome of a job that was done already: then nothing is to be done, not even staging. */
export type ThreadOpening =
  | { readonly thread: OpenThread; readonly replayed?: undefined }
  | { readonly thread?: undefined; readonly replayed: CodingOutcome };

/** What a thread is opened with: a job that was read, and what the service adds to it. */
export interface OpenThreadRequest {
  readonly job: CodingJobInput;
  readonly trusted: TrustedBinding;
}

/** The coding threads of a store. Every refusal is a `CodingThreadError`, and leaves the record as it was, byte for byte. */
export interface ThreadStore {
  /** Locks, loads and compares; writes nothing. The thread is disposed of at the end of its operation. */
  readonly open: (request: OpenThreadRequest) => Promise<ThreadOpening>;
  readonly inspect: (place: ThreadPlace) => Promise<ThreadView | undefined>;
  /** The outcome of the last operation, or of the one named, whose receipt was lost. */
  readonly adopt: (
    decision: ThreadDecision & { readonly operationId?: string | undefined },
  ) => Promise<CodingOutcome>;
  readonly abandon: (decision: ThreadDecision) => Promise<void>;
  readonly rollback: (
    decision: ThreadDecision & { readonly prove: (turn: TurnInDoubt) => Promise<TurnProof> },
  ) => Promise<void>;
  /** Makes tombstones of threads that ended more than 30 days ago. */
  readonly bury: (reclaim?: ReclaimThread) => Promise<number>;
}

/** Opens the coding threads that stand in a store. */
export function createThreadStore(
  store: Store,
  { clock = systemClock }: { readonly clock?: Clock | undefined } = {},
): ThreadStore {
  const files = { store, clock };
  return {
    open: (request) => openThread(files, request),
    inspect: async (place) => {
      const record = await readThread(files, nameThread(place));
      return record && viewThread(record);
    },
    adopt: (decision) => adoptOutcome(files, decision),
    abandon: (decision) => abandonThread(files, decision),
    rollback: (decision) => rollBackThread(files, decision),
    bury: (reclaim) => buryThreads(files, reclaim),
  };
}

async function openThread(files: ThreadFiles, request: OpenThreadRequest): Promise<ThreadOpening> {
  const ask = readAsk(request);
  const place = { scope: ask.binding.scope, sessionRef: ask.directive.sessionRef };
  const lease = await lockThread(files, place);
  try {
    const record = await readThread(files, nameThread(place));
    const replayed = judgeDirective(record, ask);
    if (!replayed) return { thread: new OpenThread({ files, lease, ask, record }) };
    await lease.release();
    return { replayed };
  } catch (error) {
    await lease.release();
    throw error;
  }
}

function readAsk({ job, trusted }: OpenThreadRequest): ThreadAsk {
  const { thread, remediation } = job.coding;
  if (!thread) throw new TypeError('A job without a directive opens no thread.');
  return {
    directive: thread,
    binding: bindJob(job, trusted),
    inputDigest: digestJob(job),
    mendedPatch: remediation?.priorReview.artifactDigest,
  };
}
