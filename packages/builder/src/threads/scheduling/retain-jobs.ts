import { isoInstant } from '@holdfast/agent';
import { keys } from '../../persistence/keys.js';
import type { CodingDesk } from './coding-desk.js';
import {
  listJobIds,
  readCodingJob,
  readCodingJobs,
  waitForLease,
  writeCodingJob,
} from './coding-job-files.js';
import { type CodingJobRecord, isOpen } from './coding-job-record.js';
import { getCodingJob } from './follow-job.js';

/** How long an end is kept at least. */
const KEEP_MS = 30 * 24 * 3_600_000;

/** Says that a job's end was taken in: what it was admitted with goes, and in time its end. */
export async function acknowledgeJob(desk: CodingDesk, jobId: string): Promise<void> {
  await using lease = await waitForLease(desk, keys.codingJobLease(jobId));
  const record = await getCodingJob(desk, jobId);
  if (isOpen(record)) throw new TypeError(`The job ${jobId} has not ended.`);
  if (record.acknowledgedAt === undefined) {
    await writeCodingJob(desk, { ...record, acknowledgedAt: isoInstant(desk.clock) }, lease);
  }
  await desk.store.remove(keys.codingSpec(jobId));
}

/** Shrinks jobs that ended more than 30 days ago and were acknowledged; that they were is kept, so that none runs twice. */
export async function pruneJobs(desk: CodingDesk, signal?: AbortSignal): Promise<number> {
  let pruned = 0;
  for (const jobId of await listJobIds(desk)) {
    if (signal?.aborted) break;
    const [record] = await readCodingJobs(desk, [jobId]);
    if (record && isOver(desk, record)) pruned += (await shrinkJob(desk, jobId)) ? 1 : 0;
  }
  return pruned;
}

function isOver({ clock }: CodingDesk, { acknowledgedAt, endedAt, end }: CodingJobRecord): boolean {
  if (acknowledgedAt === undefined || endedAt === undefined || !end) return false;
  return clock.now() - Date.parse(endedAt) > KEEP_MS;
}

async function shrinkJob(desk: CodingDesk, jobId: string): Promise<boolean> {
  const { lease } = await desk.store.acquire(keys.codingJobLease(jobId));
  if (!lease) return false;
  await using held = lease;
  const record = await readCodingJob(desk, jobId);
  if (!record || !isOver(desk, record)) return false;
  await writeCodingJob(desk, { ...record, end: undefined }, held);
  await desk.store.remove(keys.codingLog(jobId));
  return true;
}
