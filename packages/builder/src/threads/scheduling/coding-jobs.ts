import type { CodingOutcome } from '../coding-job.js';
import type { ThreadOwner } from '../contract/thread-scope.js';
import type { WorkerEnd } from '../worker/worker-spec.js';

/** How a job is submitted. The same `jobId` again with the same input is the same job. */
export interface SubmitCodingJob {
  /** The idempotency key, 1 to 128 of letters, digits, `-`, `_` and `.`; becomes the operation id where the directive has none. */
  readonly jobId: string;
  /** A coding job as in the contract; anything else is `invalid_job`, and nothing is kept of it. */
  readonly input: unknown;
  /** Whose job it is: a workflow process, or a session with its principal. The caller of a job cannot name it. */
  readonly owner: ThreadOwner;
  /** The runner of a job without a directive; a directive names its own. */
  readonly runnerId?: string | undefined;
  /** How long it may take in all, in milliseconds; the runner's own limit when absent. */
  readonly timeoutMs?: number | undefined;
}

/** Where a job stands. */
export type CodingJobState =
  | 'PENDING'
  | 'RUNNING'
  | 'SUCCEEDED'
  | 'FAILED'
  | 'CANCELLED'
  | 'UNKNOWN';

/** What can be seen of a job. */
export interface CodingJobView {
  readonly jobId: string;
  readonly runnerId: string;
  readonly state: CodingJobState;
  readonly sessionRef?: string | undefined;
  /** Where it ended; kept until it is acknowledged, and replayed byte for byte. */
  readonly end?: WorkerEnd | undefined;
  readonly acknowledged: boolean;
  /** ISO 8601. */
  readonly submittedAt: string;
  readonly deadlineAt: string;
  readonly attempt: number;
}

/** A job that was admitted, durably. */
export interface CodingJobHandle {
  readonly jobId: string;
  readonly view: () => Promise<CodingJobView>;
  /** Its outcome; rejects with the typed error of a job that failed, was cancelled or is unknown. Again and again the same. */
  readonly result: (options?: {
    readonly signal?: AbortSignal | undefined;
  }) => Promise<CodingOutcome>;
  /** Says that the end was taken in, so that it need not be kept. */
  readonly acknowledge: () => Promise<void>;
  /** Reaches a job that waits, and the process of one that runs. What was committed before is kept as evidence. */
  readonly cancel: (reason: string) => Promise<void>;
}

/** Coding jobs, scheduled on the builder's engine. */
export interface CodingJobs {
  /** Admits a job, or refuses it with a `CodingThreadError`; on disk when it resolves. */
  readonly submit: (request: SubmitCodingJob) => Promise<CodingJobHandle>;
  /** `undefined` when there is no such job. */
  readonly find: (jobId: string) => Promise<CodingJobHandle | undefined>;
  readonly list: () => Promise<readonly CodingJobView[]>;
}
