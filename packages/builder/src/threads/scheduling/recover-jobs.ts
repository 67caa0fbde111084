import { mapAtMost } from '../../engine/at-most.js';
import { keys } from '../../persistence/keys.js';
import { type CodingDesk, DEADLINES_QUEUE } from './coding-desk.js';
import { listJobIds, readCodingJob, readCodingJobs, waitForLease } from './coding-job-files.js';
import { isOpen, viewCodingJob } from './coding-job-record.js';
import type { CodingJobView } from './coding-jobs.js';
import { wakeSlots } from './slots.js';

const AT_ONCE = 8;

/** What was found open. Every job that has not ended stands in `open` or in `left`. */
export interface CodingRecovery {
  /** Jobs of the runners here, in their queues again. */
  readonly open: readonly CodingJobView[];
  /** Jobs of runners that are not configured here; they stay as they are, for whoever has the runner. */
  readonly left: readonly (CodingJobView & { readonly reason: 'unknown_runner' })[];
}

/** Puts every open job into its queue again, whatever a crash left undone. */
export async function recoverCodingJobs(desk: CodingDesk): Promise<CodingRecovery> {
  const open: CodingJobView[] = [];
  for (const runnerId of desk.runners.keys()) {
    const ids = await listJobIds(desk, keys.openCodingJobs(runnerId));
    if (ids.length === 0) continue;
    const records = await readCodingJobs(desk, ids);
    for (const { jobId } of records) await desk.engine.enqueue(DEADLINES_QUEUE, jobId, null);
    await wakeSlots(desk, runnerId);
    open.push(...records.filter(isOpen).map(viewCodingJob));
    if (records.length < ids.length) await tidyMarkers(desk, runnerId, ids);
  }
  return { open, left: await findLeft(desk) };
}

async function findLeft(desk: CodingDesk): Promise<CodingRecovery['left']> {
  const here = [...desk.runners.keys()].map((runnerId) => keys.openCodingJobs(runnerId).at(-1));
  const folders = await desk.store.list(keys.codingRunners());
  const elsewhere = folders.filter((folder) => !here.includes(folder));
  const left = await mapAtMost(AT_ONCE, elsewhere, async (folder) => {
    const ids = await listJobIds(desk, [...keys.codingRunners(), folder]);
    const records = await readCodingJobs(desk, ids);
    return records.filter(isOpen).map(viewCodingJob);
  });
  return left.flat().map((view) => ({ ...view, reason: 'unknown_runner' }));
}

/** A crash in the middle of an admission leaves a marker, and what was to be run. Nobody was promised anything. */
async function tidyMarkers(
  desk: CodingDesk,
  runnerId: string,
  jobIds: readonly string[],
): Promise<void> {
  await using _lease = await waitForLease(desk, keys.codingAdmission(runnerId));
  for (const jobId of jobIds) {
    const isThere = await readCodingJob(desk, jobId).catch(() => 'unreadable');
    if (isThere) continue;
    await desk.store.remove(keys.codingSpec(jobId));
    await desk.store.remove(keys.openCodingJob(runnerId, jobId));
  }
}
