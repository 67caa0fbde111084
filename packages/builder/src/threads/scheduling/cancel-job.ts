import { keys } from '../../persistence/keys.js';
import type { CodingDesk } from './coding-desk.js';
import { readCodingJob, tellOfJob } from './coding-job-files.js';
import { isOpen } from './coding-job-record.js';
import { endJob } from './end-job.js';
import { cancelledEnd } from './judge-end.js';
import { wakeSlots } from './slots.js';

/** Cancels a job wherever it is. The wish is on disk first, and whoever runs the job sees it there. */
export async function cancelCodingJob(
  desk: CodingDesk,
  jobId: string,
  reason: string,
): Promise<void> {
  const record = await readCodingJob(desk, jobId);
  if (!record || !isOpen(record)) return;
  await tellOfJob(desk, jobId, { type: 'cancelled', reason });
  const { lease } = await desk.store.acquire(keys.codingJobLease(jobId));
  // Whoever has it looks for cancels before it begins, and watches for them while it runs.
  if (!lease) return;
  await using held = lease;
  const now = await readCodingJob(desk, jobId);
  if (now?.state === 'PENDING') await endJob(desk, now, cancelledEnd(reason), { lease: held });
  else if (now && isOpen(now)) await wakeSlots(desk, now.runnerId);
}
