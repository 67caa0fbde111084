import type { Sha256 } from '../coding-job.js';
import type { CodingAdapterContract } from '../contract/adapter-contract.wire.js';
import type { WorkerEnd } from '../worker/worker-spec.js';
import type { CodingJobState, CodingJobView } from './coding-jobs.js';

/** The process that ran a job last, for people: the job's lease decides. */
export interface JobHost {
  readonly pid: number;
  readonly hostId: string;
  /** As `/proc` tells it: a later process with the same pid is another one. */
  readonly startTime: string;
}

/** A coding job as it stands on disk. Whoever holds its lease writes it. */
export interface CodingJobRecord {
  readonly jobId: string;
  readonly runnerId: string;
  /** Whose job it is: turns are shared out among these. */
  readonly owner: Sha256;
  /** Of all that its submitter asked for: another input under the same id is another job. */
  readonly inputDigest: Sha256;
  /** Of the spec that was made of it. */
  readonly specDigest: Sha256;
  /** What its worker and its CLI were when it was admitted. */
  readonly contract: CodingAdapterContract;
  readonly operationId: string;
  readonly sessionRef?: string | undefined;
  /** The operation of its thread: no two open jobs have the same. Absent without a directive. */
  readonly dispatch?: Sha256 | undefined;
  readonly state: CodingJobState;
  /** How often it was begun. */
  readonly attempt: number;
  /** Rises with every try. */
  readonly fencingToken: number;
  readonly executionId?: string | undefined;
  readonly host?: JobHost | undefined;
  /** Its place in time among all jobs. */
  readonly order: string;
  readonly submittedAt: string;
  readonly deadlineAt: string;
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
  /** Kept at least until it was acknowledged. */
  readonly end?: WorkerEnd | undefined;
  readonly acknowledgedAt?: string | undefined;
}

const STATES = {
  success: 'SUCCEEDED',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
  unknown: 'UNKNOWN',
} as const;

/** The state of a job that ended so. */
export function stateOfEnd({ class: ended }: WorkerEnd): CodingJobState {
  return STATES[ended];
}

/** Whether a job waits or runs. */
export function isOpen({ state }: Pick<CodingJobRecord, 'state'>): boolean {
  return state === 'PENDING' || state === 'RUNNING';
}

/** What is told of a record. */
export function viewCodingJob(record: CodingJobRecord): CodingJobView {
  const { jobId, runnerId, state, sessionRef, end, attempt, submittedAt, deadlineAt } = record;
  const acknowledged = record.acknowledgedAt !== undefined;
  return {
    ...{ jobId, runnerId, state, sessionRef, end },
    ...{ acknowledged, submittedAt, deadlineAt, attempt },
  };
}
