import { keys } from '../../persistence/keys.js';
import { isCodingThreadError } from '../coding-thread-error.js';
import {
  lockThread,
  nameThread,
  readThread,
  type ThreadFiles,
  type ThreadPlace,
  writeThread,
} from './thread-files.js';
import type { ThreadRecord } from './thread-record.js';

const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Takes away what stands elsewhere of a thread; where that fails, its record stays, and it is tried again another time. */
export type ReclaimThread = (place: ThreadPlace) => Promise<void>;

/** Makes tombstones of threads that ended long ago: their contents go, their references stay used. Tells how many. */
export async function buryThreads(
  files: ThreadFiles,
  reclaim: ReclaimThread = async () => {},
): Promise<number> {
  let buried = 0;
  const names = await files.store.list(keys.threads());
  for (const name of names.filter((one) => one.endsWith('.json'))) {
    try {
      if (await buryThread(files, name, reclaim)) buried += 1;
    } catch (error) {
      // One that is at work or unusable costs the others nothing.
      if (!isCodingThreadError(error)) throw error;
    }
  }
  return buried;
}

async function buryThread(
  files: ThreadFiles,
  name: string,
  reclaim: ReclaimThread,
): Promise<boolean> {
  const seen = await readThread(files, name);
  if (!seen || !isDue(files, seen)) return false;
  const place = { scope: seen.binding.scope, sessionRef: seen.sessionRef };
  await using lease = await lockThread(files, place);
  const record = await readThread(files, nameThread(place));
  if (!record || !isDue(files, record)) return false;
  // First: once it is a tombstone, nobody looks for more of it.
  const isReclaimed = await reclaim(place).then(
    () => true,
    () => false,
  );
  if (!isReclaimed) return false;
  const { binding, sessionRef, state, checkpoint, notes, updatedAt } = record;
  const rest = { binding, sessionRef, state, checkpoint, notes, updatedAt, operations: [] };
  return await writeThread(files, { ...rest, isTombstone: true }, { lease });
}

function isDue({ clock }: ThreadFiles, { state, updatedAt, isTombstone }: ThreadRecord): boolean {
  if (isTombstone || (state !== 'CLOSED' && state !== 'ABANDONED')) return false;
  return clock.now() - Date.parse(updatedAt) > KEPT_MS;
}
