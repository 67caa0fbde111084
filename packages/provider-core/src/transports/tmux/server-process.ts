import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { writeFileAtomic } from '../../state/atomic-write.js';
import {
  listPids,
  observePid,
  observeProcess,
  ownIdentity,
  type ProcessIdentity,
  readProcessStartTime,
} from '../../state/process-identity.js';
import { serverRecordCodec } from './server-record.wire.js';

/** Whether the server process of a socket lives, whatever the socket itself says. */
export type ServerProcess =
  | { readonly state: 'alive'; readonly pid: number; readonly startTime: string }
  | { readonly state: 'none' }
  | { readonly state: 'unknown' };

/** Writes down which process serves the socket, so that it is found when the socket file is gone. */
export async function recordServerProcess(socketPath: string, pid: number): Promise<void> {
  const startTime = readProcessStartTime(pid);
  if (startTime === undefined) return;
  const known = await readRecord(socketPath);
  if (known?.pid === pid && known.startTime === startTime) return;
  const identity = { ...ownIdentity(), pid, startTime };
  // Replaced even when it was damaged: the server has just said itself who it is.
  await writeFileAtomic(
    recordPath(socketPath),
    `${JSON.stringify(serverRecordCodec.encode(identity))}\n`,
  );
}

/** Looks for the server by its record, then among the processes that name the socket. Read-only. */
export async function findServerProcess(socketPath: string): Promise<ServerProcess> {
  const record = await readRecord(socketPath);
  const state = record ? observeProcess(record) : 'dead';
  if (record && state === 'alive') {
    return { state, pid: record.pid, startTime: record.startTime };
  }
  const found = scanForServer(socketPath);
  return found.state === 'none' && state === 'unknown' ? { state } : found;
}

function scanForServer(socketPath: string): ServerProcess {
  for (const pid of listPids()) {
    if (readText(`/proc/${pid}/comm`) !== 'tmux: server\n') continue;
    if (!readText(`/proc/${pid}/cmdline`).split('\0').includes(socketPath)) continue;
    const startTime = readProcessStartTime(pid);
    if (startTime !== undefined && observePid(pid, startTime) === 'alive') {
      return { state: 'alive', pid, startTime };
    }
  }
  return { state: 'none' };
}

async function readRecord(socketPath: string): Promise<ProcessIdentity | undefined> {
  const text = await readFile(recordPath(socketPath), 'utf8').catch(() => '');
  try {
    return serverRecordCodec.safeDecode(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function recordPath(socketPath: string): string {
  return `${socketPath}.server.json`;
}

/** Empty for a process that ended while we looked. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
