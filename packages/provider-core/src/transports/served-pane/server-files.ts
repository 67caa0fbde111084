import { readdirSync, readFileSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { readJsonFile, writeFileAtomic } from '../../state/atomic-write.js';
import { observeProcess } from '../../state/process-identity.js';
import { isAbsentError, readError, writeError } from '../../state/state-error.js';
import { isPathPart, stateLayout } from '../../state/state-layout.js';
import {
  type ServerRecord,
  type SessionMark,
  serverRecordSchema,
  sessionMarkSchema,
} from './server-record.wire.js';

/** Paths inside a server's folder. */
export const serverFiles = (dir: string) => ({
  record: join(dir, 'server.json'),
  lockDir: join(dir, 'lock'),
  sessionsDir: join(dir, 'sessions'),
  script: join(dir, 'watchdog.sh'),
  /** Written by the script: pid and start time of the server. */
  pid: join(dir, 'server.pid'),
  log: join(dir, 'server.log'),
  /** Stands while the watchdog is about to stop the server. */
  stopping: join(dir, 'stopping'),
});

/** The server's record; absent when there is none or it says nothing. */
export async function readServerRecord(dir: string): Promise<ServerRecord | undefined> {
  const file = await readJsonFile(serverFiles(dir).record);
  return file.state === 'present' ? serverRecordSchema.safeParse(file.value).data : undefined;
}

/** Writes down which process serves this folder. */
export async function saveServerRecord(dir: string, record: ServerRecord): Promise<void> {
  // A power cut ends the server too, and the record names the boot it was written in.
  await writeFileAtomic(serverFiles(dir).record, `${JSON.stringify(record)}\n`, {
    durable: false,
  });
}

/** Marks a session as one of this server's: while a mark stands, the server is wanted. */
export async function saveSessionMark(dir: string, mark: SessionMark): Promise<void> {
  const path = markPath(dir, mark.nativeSessionId);
  const content = `${JSON.stringify(mark)}\n`;
  // A warm turn finds its mark as it is to be, and need not wait for the disk.
  if (readText(path) === content) return;
  await writeFileAtomic(path, content);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** The mark of one session, or `undefined` when none can be read. */
export async function readSessionMark(
  dir: string,
  nativeSessionId: string,
): Promise<SessionMark | undefined> {
  const file = await readJsonFile(markPath(dir, nativeSessionId));
  return file.state === 'present' ? sessionMarkSchema.safeParse(file.value).data : undefined;
}

/** Takes a session's mark away; one that is gone already is fine. */
export async function removeSessionMark(dir: string, nativeSessionId: string): Promise<void> {
  const path = markPath(dir, nativeSessionId);
  await unlink(path).catch((error: unknown) => {
    if (!isAbsentError(error)) throw writeError(path, error);
  });
}

/** The ids that want this server, a session that is just being started among them. */
export async function listSessionMarks(dir: string): Promise<readonly string[]> {
  const names = listNames(serverFiles(dir).sessionsDir);
  return names.filter((name) => /^[^.].*\.json$/.test(name)).map((name) => name.slice(0, -5));
}

/** Takes away the marks of sessions whose start was cut off: their process died before their id was known. */
export async function removeDeadStarts(dir: string): Promise<void> {
  for (const id of await listSessionMarks(dir)) {
    const opener = (await readSessionMark(dir, id))?.opener;
    if (opener && observeProcess(opener) === 'dead') await removeSessionMark(dir, id);
  }
}

/** The folders of all servers of a state directory. */
export async function listServerDirs(stateDir: string): Promise<readonly string[]> {
  const { serversDir } = stateLayout(stateDir);
  const names = listNames(serversDir);
  return names.filter((name) => /^[0-9a-f]{32}$/.test(name)).map((name) => join(serversDir, name));
}

function markPath(dir: string, nativeSessionId: string): string {
  if (!isPathPart(nativeSessionId)) throw new TypeError('the native session id cannot name a file');
  return join(serverFiles(dir).sessionsDir, `${nativeSessionId}.json`);
}

function listNames(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (isAbsentError(error)) return [];
    throw readError(path, error);
  }
}
