import { mapAtMost } from './at-most.js';
import type { JobView } from './job-engine.js';
import { namesOf } from './job-keys.js';
import { compareJobs, type JobRecord } from './job-record.js';
import { readJob } from './job-store.js';
import { viewJob } from './job-view.js';
import type { QueueAccess } from './queue-context.js';

const READ_AT_ONCE = 16;

/** What a listing is told of a queue, and whom it tells what it read. */
export interface ListingHere {
  readonly runningHere: (id: string) => JobRecord | undefined;
  /** `isFree` where it was seen that nobody has the job. */
  readonly onRead?: ((record: JobRecord, seen: { readonly isFree: boolean }) => void) | undefined;
}

/** The jobs of a queue that are not done, in the order they are begun. */
export async function listJobs(
  access: QueueAccess,
  { runningHere, onRead }: ListingHere,
): Promise<readonly JobView[]> {
  const { store, keys } = access;
  const [jobs, wakes, cancels] = await Promise.all(
    [keys.jobs, keys.wakes, keys.cancels].map(async (key) => namesOf(await store.list(key))),
  );
  const read = await mapAtMost(READ_AT_ONCE, jobs ?? [], (id) => readOne(access, id));
  const records = read.filter((one) => one !== undefined).sort(compareJobs);
  const shown = records.filter(({ order }) => !cancels?.includes(order));
  return await mapAtMost(READ_AT_ONCE, shown, async (record) => {
    const here = runningHere(record.id);
    if (here) return viewJob(here, 'running');
    if (record.state === 'parked' && !wakes?.includes(record.order))
      return viewJob(record, 'parked');
    const { state } = await store.observe(keys.lease(record.id));
    onRead?.(record, { isFree: state === 'free' });
    return viewJob(record, state === 'free' ? 'waiting' : 'running');
  });
}

async function readOne(access: QueueAccess, id: string): Promise<JobRecord | undefined> {
  const found = await readJob(access, id);
  if (found.state === 'present') return found.record;
  if (found.state !== 'absent') {
    const { detail } = found;
    access.logger?.warn({ queue: access.keys.queue, job_id: id, detail }, 'job cannot be used');
  }
  return undefined;
}
