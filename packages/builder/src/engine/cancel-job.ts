import { readJob, takeJobAway, writeNote } from './job-store.js';
import type { QueueAccess } from './queue-context.js';

/** Takes a job away that does not run here; where a living owner has it, it is `noted` on disk that it is to go. */
export async function cancelJob(access: QueueAccess, id: string): Promise<'gone' | 'noted'> {
  const found = await readJob(access, id);
  if (found.state !== 'present') return 'gone';
  const { order } = found.record;
  if (await takeAway(access, id, order)) return 'gone';
  await writeNote(access, access.keys.cancel(order), { id });
  // Its owner may have let go of it before it could see the note.
  return (await takeAway(access, id, order)) ? 'gone' : 'noted';
}

async function takeAway(access: QueueAccess, id: string, order: string): Promise<boolean> {
  const { store, keys } = access;
  const seen = await store.observe(keys.lease(id));
  // An owner that cannot be seen may take long to judge, and sees the note as well.
  if (seen.state !== 'free') return false;
  const { lease } = await store.acquire(keys.lease(id));
  if (!lease) return false;
  try {
    const found = await readJob(access, id);
    const isIt = found.state === 'present' && found.record.order === order;
    if (isIt) await takeJobAway(access, found.record, lease);
    else await store.remove(keys.cancel(order));
    return true;
  } finally {
    await lease.release();
  }
}
