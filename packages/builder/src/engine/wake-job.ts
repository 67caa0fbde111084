import { readJob, readNote, writeNote } from './job-store.js';
import type { QueueAccess } from './queue-context.js';

/**
 * Notes on disk that a job is to be begun now: the note stays until a run begins that sees all of what was written before the
 * wake. False where no such job stands.
 */
export async function wakeJob(access: QueueAccess, id: string): Promise<boolean> {
  const { store, keys } = access;
  const found = await readJob(access, id);
  if (found.state !== 'present') return false;
  const { order, payload } = found.record;
  if (await readNote(access, keys.cancel(order))) return false;
  await writeNote(access, keys.wake(order), { id, payload });
  const after = await readJob(access, id);
  const isIt = after.state === 'present' && after.record.order === order;
  // Done meanwhile: then the note is for nobody, unless the run's end has seen it.
  if (!isIt) await store.remove(keys.wake(order));
  return after.state === 'present';
}
