import { isoInstant, type Lease, SessionBusyError } from '@holdfast/agent';
import { backOffMs } from '../../engine/back-off.js';
import { keys } from '../../persistence/keys.js';
import type { CodingThreadError } from '../coding-thread-error.js';
import { describeWorkerError } from '../worker/worker-error.js';
import type { WorkerEnd } from '../worker/worker-spec.js';
import { type CodingDesk, DEADLINES_QUEUE } from './coding-desk.js';
import { tellOfJob, writeCodingJob } from './coding-job-files.js';
import { type CodingJobRecord, stateOfEnd } from './coding-job-record.js';

/** How an end is written. */
export interface EndOptions {
  readonly lease: Lease;
  /** Aborts when the engine stops: a disk that takes nothing is tried one last time then. */
  readonly stopping?: AbortSignal | undefined;
}

/**
 * Journals the end of a job, and tells of it only then. False where the job is no longer ours: a host that was frozen and
 * lost its lease changes nothing. An end that cannot be written is never told.
 */
export async function endJob(
  desk: CodingDesk,
  record: CodingJobRecord,
  end: WorkerEnd,
  options: EndOptions,
): Promise<boolean> {
  const ended = { ...record, state: stateOfEnd(end), end, endedAt: isoInstant(desk.clock) };
  if (!(await keepTrying(desk, ended, options))) return false;
  await finishEnded(desk, ended);
  return true;
}

/** What is owed once an end is on disk; done again after a crash. */
export async function finishEnded(
  desk: CodingDesk,
  { jobId, runnerId }: CodingJobRecord,
): Promise<void> {
  await tellOfJob(desk, jobId, { type: 'ended' });
  await desk.engine.cancel(DEADLINES_QUEUE, jobId);
  await desk.store.remove(keys.openCodingJob(runnerId, jobId));
}

/** The end of a job that was refused before or while it ran. */
export function failedEnd(error: CodingThreadError): WorkerEnd {
  return { class: 'failed', error: describeWorkerError(error) };
}

/** An end must not be lost to a full disk: it is written as soon as that can be, while the job is ours. */
async function keepTrying(
  desk: CodingDesk,
  record: CodingJobRecord,
  { lease, stopping }: EndOptions,
): Promise<boolean> {
  for (let failures = 1; ; failures += 1) {
    const isLast = stopping?.aborted === true;
    try {
      await writeCodingJob(desk, record, lease);
      return true;
    } catch (error) {
      if (error instanceof SessionBusyError || !lease.isCurrent()) return false;
      desk.logger?.warn({ job_id: record.jobId, err: error }, 'end of a coding job not written');
      if (isLast) throw error;
    }
    await desk.clock.sleep(backOffMs(failures), stopping).catch(() => {});
  }
}
