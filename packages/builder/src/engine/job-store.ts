import type { StoreKey } from '../persistence/store.js';
import type { Lease } from '../persistence/store-lease.js';
import type { JobRecord } from './job-record.js';
import {
  decodeJobNote,
  decodeJobRecord,
  encodeJobNote,
  encodeJobRecord,
  type JobNote,
} from './job-record.wire.js';
import type { QueueAccess } from './queue-context.js';

/** What stands where a job is looked for. */
export type FoundJob =
  | { readonly state: 'present'; readonly record: JobRecord }
  | { readonly state: 'absent' }
  /** Set aside; its name says where to. */
  | { readonly state: 'damaged'; readonly detail: string }
  /** Written by a newer version, and left as it is. */
  | { readonly state: 'newer'; readonly detail: string };

/** Reads a job; a record that is none is set aside. */
export async function readJob({ store, keys }: QueueAccess, id: string): Promise<FoundJob> {
  const read = await store.read(keys.job(id));
  if (read.state === 'absent') return read;
  if (read.state === 'damaged') return damagedJob(read.movedTo);
  const decoded = decodeJobRecord(read.value, keys.queue, id);
  if (decoded.state === 'present') return decoded;
  if (decoded.state === 'newer') {
    return { state: 'newer', detail: 'It was written by a newer version; nothing was touched.' };
  }
  return damagedJob(await store.setAside(keys.job(id)));
}

function damagedJob(movedTo: string): FoundJob {
  return { state: 'damaged', detail: `It is no job; it was set aside as ${movedTo}.` };
}

/** Writes a job under its lease. */
export async function writeJob(
  { store, keys }: QueueAccess,
  record: JobRecord,
  lease: Lease,
): Promise<void> {
  await store.write(keys.job(record.id), encodeJobRecord(record), { lease });
}

/** Writes a job that is not there yet; false when one is. */
export function createJob({ store, keys }: QueueAccess, record: JobRecord): Promise<boolean> {
  return store.write(keys.job(record.id), encodeJobRecord(record), { mode: 'create' });
}

/** Takes a job away under its lease, with what was noted of it. */
export async function takeJobAway(
  { store, keys }: QueueAccess,
  { id, order }: JobRecord,
  lease: Lease,
): Promise<void> {
  // The wake first: one without its job is the promise of another run.
  await store.remove(keys.wake(order));
  await store.remove(keys.job(id), { lease });
  await store.remove(keys.cancel(order));
}

/** Writes what a wake or a cancel leaves for whoever holds the job. */
export async function writeNote({ store }: QueueAccess, key: StoreKey, note: JobNote) {
  await store.write(key, encodeJobNote(note));
}

/** Reads such a note. */
export async function readNote(
  { store }: QueueAccess,
  key: StoreKey,
): Promise<JobNote | undefined> {
  const read = await store.read(key);
  return read.state === 'present' ? decodeJobNote(read.value) : undefined;
}
