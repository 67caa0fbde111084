import { createHash, randomBytes } from 'node:crypto';
import { type Clock, isoInstant, type Lease, SessionBusyError } from '@holdfast/agent';
import { keys } from '../../persistence/keys.js';
import type { Store, StoreWriteOptions } from '../../persistence/store.js';
import type { Sha256 } from '../coding-job.js';
import { CodingThreadError } from '../coding-thread-error.js';
import type { ThreadRecord } from './thread-record.js';
import {
  encodeThreadSecret,
  findThreadSecret,
  openSealed,
  sealThread,
} from './thread-record.wire.js';

/** Where the records of threads stand. */
export interface ThreadFiles {
  readonly store: Store;
  readonly clock: Clock;
}

/** Which thread: a reference means one thread within its scope. */
export interface ThreadPlace {
  readonly scope: Sha256;
  readonly sessionRef: string;
}

/** How often a lock that is held for a moment is asked for again, and how long is waited between. */
const LOCK_TRIES = 20;
const LOCK_PAUSE_MS = 5;

/** The name of a thread's record. */
export function nameThread({ scope, sessionRef }: ThreadPlace): string {
  const id = `${scope}:${sessionRef.toLowerCase()}`;
  return `${createHash('sha256').update(id).digest('hex')}.json`;
}

/** Reads a record. A copied, edited or damaged one is `thread_unavailable`, and stays as it is. */
export async function readThread(
  files: ThreadFiles,
  name: string,
): Promise<ThreadRecord | undefined> {
  const found = await files.store.read(keys.thread(name));
  if (found.state === 'absent') return undefined;
  const secret = await findSecret(files);
  const isWhole = found.state === 'present' && secret;
  const record = isWhole ? openSealed(found.value, name, secret) : undefined;
  if (record) return record;
  throw new CodingThreadError(
    'thread_unavailable',
    'The record of this thread was not written here as it stands; use a new session.',
    { evidence: { record: name, found: found.state } },
  );
}

/** Writes a record; `false` in `create` mode where one stands. A lease that was lost is `thread_busy`, and nothing is written. */
export async function writeThread(
  files: ThreadFiles,
  record: ThreadRecord,
  { lease, mode }: StoreWriteOptions,
): Promise<boolean> {
  const name = nameThread({ scope: record.binding.scope, sessionRef: record.sessionRef });
  const secret = await getSecret(files);
  const stamped = { ...record, updatedAt: isoInstant(files.clock) };
  try {
    return await files.store.write(keys.thread(name), sealThread(stamped, name, secret), {
      lease,
      mode,
    });
  } catch (error) {
    if (error instanceof SessionBusyError)
      throw busy(record.sessionRef, 'its lock was lost', error);
    throw error;
  }
}

/** Takes the lock of a thread; one that stays held is `thread_busy`. */
export async function lockThread(files: ThreadFiles, place: ThreadPlace): Promise<Lease> {
  const key = keys.threadLease(nameThread(place));
  for (let tries = 1; ; tries += 1) {
    const { lease, heldBy } = await files.store.acquire(key);
    if (lease) return lease;
    if (tries === LOCK_TRIES) throw busy(place.sessionRef, `process ${heldBy.pid} holds its lock`);
    await files.clock.sleep(LOCK_PAUSE_MS);
  }
}

function busy(sessionRef: string, why: string, cause?: Error): CodingThreadError {
  const message = `This thread is at work elsewhere: ${why}. Try the same directive later.`;
  return new CodingThreadError('thread_busy', message, { sessionRef }, cause && { cause });
}

async function findSecret({ store }: ThreadFiles): Promise<Uint8Array | undefined> {
  const found = await store.read(keys.threadSecret());
  return found.state === 'present' ? findThreadSecret(found.value) : undefined;
}

/** The store's own secret, made by whoever is first. A damaged one is never replaced: every record hangs on it. */
async function getSecret(files: ThreadFiles): Promise<Uint8Array> {
  const found = await findSecret(files);
  if (found) return found;
  const made = randomBytes(32);
  const options = { mode: 'create' } as const;
  if (await files.store.write(keys.threadSecret(), encodeThreadSecret(made), options)) return made;
  const others = await findSecret(files);
  if (others) return others;
  throw new CodingThreadError('thread_unavailable', 'The secret of the threads cannot be read.');
}
