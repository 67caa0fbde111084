import type { BegunJob } from './claim-job.js';
import type { JobOutcome } from './job-engine.js';
import type { JobRecord } from './job-record.js';
import { createJob, readNote, takeJobAway, writeJob } from './job-store.js';
import type { QueueAccess, QueueContext } from './queue-context.js';
import { recordAfter } from './record-after.js';

/** Writes what a run said of its job, under the job's lease; gives the job as it stands then, where it still does. */
export async function settleJob(
  context: QueueContext,
  { record, lease }: BegunJob,
  outcome: JobOutcome,
): Promise<JobRecord | undefined> {
  const { store, keys, clock, maxAttempts, stopping } = context;
  if (await readNote(context, keys.cancel(record.order))) {
    await takeJobAway(context, record, lease);
    return undefined;
  }
  if (outcome.state === 'done') {
    await store.remove(keys.job(record.id), { lease });
    return await answerWake(context, record);
  }
  const after = { now: clock.now(), maxAttempts, wasStopped: stopping.aborted };
  const next = recordAfter(record, outcome, after);
  await writeJob(context, next, lease);
  return next;
}

/** A wake that came while the job ran: it is begun once more, as a new job, so that nothing is overlooked. */
export async function answerWake(
  context: QueueAccess,
  { id, order, queue }: Pick<JobRecord, 'id' | 'order' | 'queue'>,
): Promise<JobRecord | undefined> {
  const key = context.keys.wake(order);
  const note = await readNote(context, key);
  if (!note) return undefined;
  const payload = note.payload ?? null;
  const next: JobRecord = {
    queue,
    id,
    payload,
    attempt: 0,
    state: 'waiting',
    ...context.orders.next(),
  };
  const isNew = await createJob(context, next);
  await context.store.remove(key);
  return isNew ? next : undefined;
}
