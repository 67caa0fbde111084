import { readJob, readNote } from './job-store.js';
import type { QueueContext } from './queue-context.js';
import { answerWake } from './settle-job.js';

/** A wake or a cancel whose job is not known: a crash left it, or the job is newer than the listing. */
export async function tidyNote(context: QueueContext, order: string): Promise<void> {
  const { store, keys } = context;
  const [wake, cancel] = await Promise.all([
    readNote(context, keys.wake(order)),
    readNote(context, keys.cancel(order)),
  ]);
  const id = wake?.id ?? cancel?.id;
  if (id !== undefined && (await stands(context, id, order))) return;
  // An order that is gone never comes back, so that nobody needs the note any more.
  if (cancel) await Promise.all([store.remove(keys.cancel(order)), store.remove(keys.wake(order))]);
  else if (wake) await answerWake(context, { id: wake.id, order, queue: keys.queue });
}

async function stands(context: QueueContext, id: string, order: string): Promise<boolean> {
  const found = await readJob(context, id);
  return found.state === 'present' && found.record.order === order;
}
