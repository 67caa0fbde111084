import { readdir, readFile, readlink, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServedPane } from '../../spec/served-pane.js';
import type { SessionContext } from '../session-transport.js';

/** A session's writer lock, as it stands in the provider's home. */
export interface WriterLock {
  /** Without a link on the way, as the kernel tells it. */
  readonly path: string;
  readonly inode: string;
}

/** The provider's own writer lock on the session; absent when there is none, and so nobody who holds it. */
export async function findWriterLock(
  { record }: Pick<ServedPane, 'record'>,
  { cliHome, nativeSessionId }: Pick<SessionContext, 'cliHome' | 'nativeSessionId'>,
): Promise<WriterLock | undefined> {
  if (!record.writerLock || nativeSessionId === undefined) return undefined;
  try {
    const path = await realpath(join(cliHome, record.writerLock(nativeSessionId)));
    return { path, inode: String((await stat(path)).ino) };
  } catch {
    return undefined;
  }
}

/**
 * The process that holds the provider's own writer lock on the session; absent when none can be seen, or it is one of
 * `isOurs`, which is asked first because it costs less than to prove that a process has the lock's file open.
 */
export async function findWriter(
  way: Pick<ServedPane, 'record'>,
  context: Pick<SessionContext, 'cliHome' | 'nativeSessionId'>,
  isOurs: (pid: number) => Promise<boolean> = async () => false,
): Promise<{ readonly pid: number } | undefined> {
  const lock = await findWriterLock(way, context);
  if (!lock) return undefined;
  // `1: FLOCK  ADVISORY  WRITE <pid> <major>:<minor>:<inode> 0 EOF`
  const locks = await readFile('/proc/locks', 'utf8').catch(() => '');
  for (const line of locks.split('\n')) {
    const [, kind, , , pid = '', place = ''] = line.trim().split(/\s+/);
    if (kind !== 'FLOCK' || place.split(':')[2] !== lock.inode) continue;
    if (await isOurs(Number(pid))) return undefined;
    // Another file system may have the same inode number.
    if (await hasOpen(Number(pid), lock)) return { pid: Number(pid) };
  }
  return undefined;
}

/**
 * Whether this very process holds the lock, as its own list of open files says. That list is read in a moment; the kernel
 * gives its list of all locks only after every processor has answered, which takes longer than the rest of a turn's looks.
 */
export async function holdsWriterLock(pid: number, lock: WriterLock): Promise<boolean> {
  for (const descriptor of (await listOpen(pid, lock)) ?? []) {
    const about = await readFile(`/proc/${pid}/fdinfo/${descriptor}`, 'utf8').catch(() => '');
    if (/^lock:.*\bFLOCK\b/m.test(about)) return true;
  }
  return false;
}

/** What cannot be seen counts as open: only a process of another user hides it. */
async function hasOpen(pid: number, lock: WriterLock): Promise<boolean> {
  const open = await listOpen(pid, lock);
  return open === undefined || open.length > 0;
}

/** The descriptors by which a process has the lock's file open; absent when they cannot be seen. */
async function listOpen(pid: number, { path }: WriterLock): Promise<readonly string[] | undefined> {
  const folder = `/proc/${pid}/fd`;
  const descriptors = await readdir(folder).catch(() => undefined);
  if (!descriptors) return undefined;
  // At once: a server has dozens open, and one after the other they take longer than the rest of the look.
  const targets = await Promise.all(
    descriptors.map((descriptor) => readlink(join(folder, descriptor)).catch(() => '')),
  );
  return descriptors.filter((_, index) => targets[index] === path);
}
