import type { JobHandler, JobOutcome } from '../../engine/job-engine.js';
import { instantOf } from '../../engine/job-record.js';
import { keys } from '../../persistence/keys.js';
import type { CodingDesk } from './coding-desk.js';
import { readCodingJob } from './coding-job-files.js';
import { endJob } from './end-job.js';
import { deadlineEnd } from './judge-end.js';

const AGAIN_MS = 1_000;

/** Ends a job whose time is over while it waits. One that runs is bounded by whoever runs it. */
export function createDeadlineHandler(desk: CodingDesk): JobHandler {
  return async ({ id: jobId }, { signal }): Promise<JobOutcome> => {
    const record = await readCodingJob(desk, jobId);
    if (record?.state !== 'PENDING') return { state: 'done' };
    const { clock, store } = desk;
    if (clock.now() < Date.parse(record.deadlineAt)) {
      return { state: 'later', reason: 'Its time is not over.', notBefore: record.deadlineAt };
    }
    const { lease } = await store.acquire(keys.codingJobLease(jobId), { signal });
    if (!lease) return lookAgain(clock.now() + AGAIN_MS);
    await using held = lease;
    const now = await readCodingJob(desk, jobId);
    if (now?.state !== 'PENDING') return { state: 'done' };
    await endJob(desk, now, deadlineEnd('while it waited'), { lease: held, stopping: signal });
    return { state: 'done' };
  };
}

function lookAgain(at: number): JobOutcome {
  return { state: 'later', reason: 'Somebody has the job.', notBefore: instantOf(at) };
}
