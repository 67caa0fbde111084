import { waitUntil } from '@holdfast/agent';
import type { JsonValue } from '../persistence/store.js';
import { cancelJob } from './cancel-job.js';
import type { JobRecord } from './job-record.js';
import { createJob, readJob, readNote } from './job-store.js';
import type { QueueAccess } from './queue-context.js';

/** How long an owner may take to let go of a cancelled job whose id is enqueued anew. */
const LET_GO_MS = 30_000;

/** Writes a job; `undefined` where one of that id stands. */
export async function enqueueJob(
  access: QueueAccess,
  id: string,
  payload: JsonValue,
): Promise<JobRecord | undefined> {
  const { keys, orders } = access;
  for (;;) {
    const place = orders.next();
    const record: JobRecord = {
      queue: keys.queue,
      id,
      payload,
      ...place,
      attempt: 0,
      state: 'waiting',
    };
    if (await createJob(access, record)) return record;
    const found = await readJob(access, id);
    if (found.state === 'damaged') continue;
    if (found.state !== 'present') return undefined;
    if (!(await readNote(access, keys.cancel(found.record.order)))) return undefined;
    await waitForCancel(access, id);
  }
}

/** A cancelled job is no job any more, but only its owner may take it away. */
async function waitForCancel(access: QueueAccess, id: string): Promise<void> {
  await waitUntil(async () => (await cancelJob(access, id)) === 'gone', {
    awaiting: `the cancelled job ${id} of ${access.keys.queue} to be let go of`,
    deadlineMs: LET_GO_MS,
    intervalMs: 50,
    clock: access.clock,
    layer: 'builder',
  });
}
