import { readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
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
    const path = realpathSync.native(join(cliHome, record.writerLock(nativeSessionId)));
    return { path, inode: String(statSync(path).ino) };
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
    if (hasOpen(Number(pid), lock)) return { pid: Number(pid) };
  }
  return undefined;
}

/**
 * Whether this very process holds the lock, as its own list of open files says. That list is read in a moment; the kernel
 * gives its list of all locks only after every processor has answered, which takes longer than the rest of a turn's looks.
 */
export function holdsWriterLock(pid: number, lock: WriterLock): boolean {
  const open = listOpen(pid, lock) ?? [];
  return open.some((descriptor) =>
    /^lock:.*\bFLOCK\b/m.test(readText(`/proc/${pid}/fdinfo/${descriptor}`)),
  );
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** What cannot be seen counts as open: only a process of another user hides it. */
function hasOpen(pid: number, lock: WriterLock): boolean {
  const open = listOpen(pid, lock);
  return open === undefined || open.length > 0;
}

/** The descriptors by which a process has the lock's file open; absent when they cannot be seen. */
function listOpen(pid: number, { path }: WriterLock): readonly string[] | undefined {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).filter((each) => readTarget(join(folder, each)) === path);
  } catch {
    return undefined;
  }
}

function readTarget(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
