import type { CodingOutcome } from './coding-job.js';
import type { ThreadOwner } from './contract/thread-scope.js';
import type { CodingJobs } from './scheduling/coding-jobs.js';
import type { CodingStages } from './stages/coding-stage.js';
import type { ThreadView } from './store/thread-view.js';

/** Which thread: a reference means one thread within what its owner's scope is in this service. */
export interface ThreadAddress {
  readonly owner: ThreadOwner;
  readonly sessionRef: string;
}

/** A decision about a thread, with the reason that is kept in its record. */
export interface ThreadVerdict extends ThreadAddress {
  readonly reason: string;
}

/**
 * Coding jobs, the threads they go on in, and the stages that are made of them. Every refusal is a `CodingThreadError`, whose
 * `retry` says what may be done next, and leaves the record of a thread as it was.
 */
export interface CodingThreads extends CodingJobs {
  /** Runs a stage to its end, or goes on with one that was begun. */
  readonly runStage: CodingStages['run'];
  /** What is kept of a thread, without changing anything; `undefined` where nothing was ever claimed. */
  readonly inspect: (address: ThreadAddress) => Promise<ThreadView | undefined>;
  /** The outcome of the last operation, or of the one named, whose receipt was lost; a validated result is committed first. */
  readonly adopt: (
    verdict: ThreadVerdict & { readonly operationId?: string | undefined },
  ) => Promise<CodingOutcome>;
  /** Gives a thread up: its reference is never used again. */
  readonly abandon: (verdict: ThreadVerdict) => Promise<void>;
  /** Takes a claim back, where the CLI's own record proves that no turn was taken in. */
  readonly rollback: (verdict: ThreadVerdict) => Promise<void>;
}
