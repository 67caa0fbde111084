import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServedPane } from '../../spec/served-pane.js';
import type { SessionContext } from '../session-transport.js';

/**
 * The process that holds the provider's own writer lock on the session; absent when none can be seen, or it is one of
 * `isOurs`, which is asked first because it costs less than to prove that a process has the lock's file open.
 */
export async function findWriter(
  { record }: Pick<ServedPane, 'record'>,
  { cliHome, nativeSessionId }: Pick<SessionContext, 'cliHome' | 'nativeSessionId'>,
  isOurs: (pid: number) => Promise<boolean> = async () => false,
): Promise<{ readonly pid: number } | undefined> {
  if (!record.writerLock || nativeSessionId === undefined) return undefined;
  const path = join(cliHome, record.writerLock(nativeSessionId));
  const file = await stat(path).catch(() => undefined);
  if (!file) return undefined;
  // `1: FLOCK  ADVISORY  WRITE <pid> <major>:<minor>:<inode> 0 EOF`
  const locks = await readFile('/proc/locks', 'utf8').catch(() => '');
  for (const line of locks.split('\n')) {
    const [, kind, , , pid = '', place = ''] = line.trim().split(/\s+/);
    if (kind !== 'FLOCK' || place.split(':')[2] !== String(file.ino)) continue;
    if (await isOurs(Number(pid))) return undefined;
    // Another file system may have the same inode number.
    if (await hasOpen(Number(pid), path)) return { pid: Number(pid) };
  }
  return undefined;
}

/** What cannot be seen counts as open: only a process of another user hides it. */
async function hasOpen(pid: number, path: string): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  const descriptors = await readdir(folder).catch(() => undefined);
  if (!descriptors) return true;
  // At once: a server has dozens open, and one after the other they take longer than the rest of the look.
  const targets = await Promise.all(
    descriptors.map((descriptor) => readlink(join(folder, descriptor)).catch(() => '')),
  );
  return targets.includes(path);
}
