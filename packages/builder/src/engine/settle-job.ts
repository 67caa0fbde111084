import type { BegunJob } from './claim-job.js';
import type { JobOutcome } from './job-engine.js';
import type { JobRecord } from './job-record.js';
import type { JobNote } from './job-record.wire.js';
import { createJob, readNote, takeJobAway, writeJob } from './job-store.js';
import type { QueueAccess, QueueContext } from './queue-context.js';
import { recordAfter } from './record-after.js';

/** Writes what a run said of its job, under the job's lease; gives the job as it stands then, where it still does. */
export async function settleJob(
  context: QueueContext,
  { record, lease }: BegunJob,
  outcome: JobOutcome,
): Promise<JobRecord | undefined> {
  const { keys, clock, maxAttempts, stopping } = context;
  if (await readNote(context, keys.cancel(record.order))) {
    await takeJobAway(context, record, lease);
    return undefined;
  }
  if (outcome.state === 'done') return await endJob(context, { record, lease });
  const after = { now: clock.now(), maxAttempts, wasStopped: stopping.aborted };
  const next = recordAfter(record, outcome, after);
  await writeJob(context, next, lease);
  return next;
}

/** Takes a job away that is done, unless a wake came while it ran: then it is begun once more, and nothing is overlooked. */
async function endJob(
  context: QueueContext,
  { record, lease }: BegunJob,
): Promise<JobRecord | undefined> {
  const { store, keys } = context;
  const wake = keys.wake(record.order);
  const note = await readNote(context, wake);
  if (!note) {
    await store.remove(keys.job(record.id), { lease });
    return await answerWake(context, record);
  }
  const next = renewJob(context, record, note);
  await writeJob(context, next, lease);
  await store.remove(wake);
  return next;
}

/** A wake that came too late to be seen by the run it was for: the job is enqueued once more. */
export async function answerWake(
  context: QueueAccess,
  job: Pick<JobRecord, 'id' | 'order' | 'queue'>,
): Promise<JobRecord | undefined> {
  const wake = context.keys.wake(job.order);
  const note = await readNote(context, wake);
  if (!note) return undefined;
  const next = renewJob(context, job, note);
  const isNew = await createJob(context, next);
  await context.store.remove(wake);
  return isNew ? next : undefined;
}

function renewJob(
  { orders }: QueueAccess,
  { queue, id }: Pick<JobRecord, 'id' | 'queue'>,
  { payload = null }: JobNote,
): JobRecord {
  return { queue, id, payload, ...orders.next(), attempt: 0, state: 'waiting' };
}
