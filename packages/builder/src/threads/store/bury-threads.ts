import { keys } from '../../persistence/keys.js';
import { isCodingThreadError } from '../coding-thread-error.js';
import {
  lockThread,
  nameThread,
  readThread,
  type ThreadFiles,
  writeThread,
} from './thread-files.js';
import type { ThreadRecord } from './thread-record.js';

const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Makes tombstones of threads that ended long ago: their contents go, their references stay used. Tells how many. */
export async function buryThreads(files: ThreadFiles): Promise<number> {
  let buried = 0;
  const names = await files.store.list(keys.threads());
  for (const name of names.filter((one) => one.endsWith('.json'))) {
    try {
      if (await buryThread(files, name)) buried += 1;
    } catch (error) {
      // One that is at work or unusable costs the others nothing.
      if (!isCodingThreadError(error)) throw error;
    }
  }
  return buried;
}

async function buryThread(files: ThreadFiles, name: string): Promise<boolean> {
  const seen = await readThread(files, name);
  if (!seen || !isDue(files, seen)) return false;
  const place = { scope: seen.binding.scope, sessionRef: seen.sessionRef };
  await using lease = await lockThread(files, place);
  const record = await readThread(files, nameThread(place));
  if (!record || !isDue(files, record)) return false;
  const { binding, sessionRef, state, checkpoint, notes, updatedAt } = record;
  const rest = { binding, sessionRef, state, checkpoint, notes, updatedAt, operations: [] };
  return await writeThread(files, { ...rest, isTombstone: true }, { lease });
}

function isDue({ clock }: ThreadFiles, { state, updatedAt, isTombstone }: ThreadRecord): boolean {
  if (isTombstone || (state !== 'CLOSED' && state !== 'ABANDONED')) return false;
  return clock.now() - Date.parse(updatedAt) > KEPT_MS;
}
