import type { Clock, FoundCodingAdapter, ProviderSessions } from '@holdfast/agent';
import type { Store } from '../../persistence/store.js';
import type { CodingRole } from '../coding-job.js';
import type { CodingPolicy } from '../contract/coding-policy.wire.js';
import type { CodingTurnSpec } from '../contract/coding-turn-spec.wire.js';
import type { Git } from '../workspace/git.js';
import type { CodingStep, CodingWorkerSpec, WorkerProgress } from './worker-spec.js';

/** What one try of a job is given. */
export interface CodingJobRun {
  readonly spec: CodingWorkerSpec;
  readonly store: Store;
  /** Aborting it cancels: before the claim everything stays as it was, after it the turn is interrupted and the thread failed. */
  readonly signal: AbortSignal;
  readonly report: (progress: WorkerProgress) => void;
  /** Milliseconds since the epoch, which may be put off meanwhile; without one, an archive has its own limit alone. */
  readonly deadlineAt?: number | (() => number) | undefined;
  /** How provider sessions are driven; tests hand in theirs. */
  readonly sessions?: ProviderSessions | undefined;
  readonly clock?: Clock | undefined;
}

/** A try whose spec was validated, with all that follows from the spec alone. */
export interface ValidatedJob extends Omit<CodingJobRun, 'clock' | 'deadlineAt'> {
  readonly clock: Clock;
  /** The turn, as its own rules let it pass. */
  readonly coding: CodingTurnSpec;
  readonly policy: CodingPolicy;
  readonly role: CodingRole;
  readonly found: FoundCodingAdapter;
  readonly git: Git;
  /** The thread's own folder: the same for each of its jobs. */
  readonly root: string;
  /** Where the job may change files, relative to the repository's root; `.` is all of it. */
  readonly writableRoots: readonly string[];
  /** What is left of the job's time, in milliseconds. */
  readonly remainingMs: () => number | undefined;
  /** Tells that a step begins; a fault run may end the process there. */
  readonly enter: (step: CodingStep) => void;
}
