import type { CodingOutcome } from '../coding-job.js';
import { CodingThreadError } from '../coding-thread-error.js';
import { restoreWorkerError } from '../worker/worker-error.js';
import { cancelCodingJob } from './cancel-job.js';
import type { CodingDesk } from './coding-desk.js';
import { type CodingJobRecord, viewCodingJob } from './coding-job-record.js';
import type { CodingJobHandle } from './coding-jobs.js';
import { getCodingJob, waitForEnd } from './follow-job.js';
import { acknowledgeJob } from './retain-jobs.js';

/** What a submitter has in hand: everything is read from the disk, and the same in every builder. */
export function createJobHandle(desk: CodingDesk, jobId: string): CodingJobHandle {
  return {
    jobId,
    view: async () => viewCodingJob(await getCodingJob(desk, jobId)),
    result: async ({ signal } = {}) => readOutcome(await waitForEnd(desk, jobId, signal)),
    acknowledge: () => acknowledgeJob(desk, jobId),
    cancel: (reason) => cancelCodingJob(desk, jobId, reason),
  };
}

/** The outcome of a job that succeeded; the typed error of any other end. */
function readOutcome({ jobId, sessionRef, end }: CodingJobRecord): CodingOutcome {
  if (end?.class === 'success') return end.outcome;
  if (end?.class === 'failed') throw restoreWorkerError(end.error);
  if (end?.class === 'cancelled') {
    const { reason, outcome } = end;
    const evidence = {
      reason,
      outcome: outcome?.outcome,
      thread: outcome?.thread && { ...outcome.thread },
    };
    const message = `The job ${jobId} was cancelled: ${reason}`;
    throw new CodingThreadError('job_cancelled', message, { sessionRef, evidence });
  }
  const why = end?.reason ?? 'Its end was acknowledged long ago, and is kept no longer.';
  throw new CodingThreadError('execution_unknown', `What became of the job ${jobId}? ${why}`, {
    sessionRef,
    evidence: end?.evidence,
  });
}
