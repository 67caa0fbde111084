import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { errorCode } from './state-error.js';

/** Names one process for ever: its pid alone is used again. */
export interface ProcessIdentity {
  /** This installation of this machine; empty parts where the system tells none. */
  readonly hostId: string;
  /** Random at each boot; `unknown` without `/proc`. */
  readonly bootId: string;
  readonly pidNamespace: string;
  readonly pid: number;
  /** Clock ticks from boot to the process's start, as `/proc` tells them. */
  readonly startTime: string;
}

const UNKNOWN = 'unknown';

let own: ProcessIdentity | undefined;

/** Who this process is. */
export async function readOwnIdentity(): Promise<ProcessIdentity> {
  return ownIdentity();
}

/** The same at once: read from the system the first time only. */
export function ownIdentity(): ProcessIdentity {
  own ??= {
    // The host's name too: containers of one image share one machine id.
    hostId: `${readLine('/etc/machine-id') ?? ''}@${hostname()}`,
    bootId: readLine('/proc/sys/kernel/random/boot_id') ?? UNKNOWN,
    pidNamespace: readLink('/proc/self/ns/pid') ?? UNKNOWN,
    pid: process.pid,
    startTime: readProcessStartTime(process.pid) ?? `origin ${performance.timeOrigin}`,
  };
  return own;
}

/** What can be said of a process that may be anywhere. */
export type ProcessState = 'alive' | 'dead' | 'unknown';

/**
 * Looks for the process, as seen by `observer`. `dead` is proven: no such pid, another start time,
 * another boot of the same host, or a zombie with no thread left. Elsewhere it is `unknown`.
 */
export function observeProcess(
  identity: ProcessIdentity,
  observer: ProcessIdentity = ownIdentity(),
): ProcessState {
  if (isSame(identity, observer)) return 'alive';
  if (identity.bootId === UNKNOWN || observer.bootId === UNKNOWN) return 'unknown';
  if (identity.bootId !== observer.bootId) {
    return identity.hostId === observer.hostId ? 'dead' : 'unknown';
  }
  if (identity.pidNamespace !== observer.pidNamespace || identity.pidNamespace === UNKNOWN) {
    return 'unknown';
  }
  return observePid(identity.pid, identity.startTime);
}

/** Whether the process with this pid and start time lives in our own pid namespace. */
export function observePid(pid: number, startTime: string): ProcessState {
  const status = readProcessStatus(pid);
  if (!status) return isPidTaken(pid) ? 'unknown' : 'dead';
  if (status.startTime !== startTime) return 'dead';
  return isOver(status, () => countThreads(pid)) ? 'dead' : 'alive';
}

/**
 * A killed process shows Z while its other threads still run and write: it is over only with
 * one thread left.
 */
export function isOver(
  { state }: { readonly state: string },
  threads: () => number | undefined,
): boolean {
  if (state === 'X' || state === 'x') return true;
  return state === 'Z' && (threads() ?? 0) <= 1;
}

/** The start time of a process of our pid namespace; absent when there is none. */
export function readProcessStartTime(pid: number): string | undefined {
  return readProcessStatus(pid)?.startTime;
}

/** What `/proc/<pid>/stat` tells. */
export interface ProcessStatus {
  readonly pid: number;
  readonly state: string;
  readonly parentPid: number;
  /** The id of the session's leader, which no other process can have while the session has a member. */
  readonly sessionId: number;
  readonly startTime: string;
}

/** Reads `/proc/<pid>/stat`; absent when there is no such process, or no `/proc`. */
export function readProcessStatus(pid: number): ProcessStatus | undefined {
  const text = readText(`/proc/${pid}/stat`);
  return text === undefined ? undefined : parseProcessStatus(pid, text);
}

/** The fields of `/proc/<pid>/stat`. The name, in brackets, may hold blanks and brackets itself. */
export function parseProcessStatus(pid: number, text: string): ProcessStatus | undefined {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parentPid, , sessionId] = fields;
  const startTime = fields[19];
  if (state === undefined || parentPid === undefined || startTime === undefined) return undefined;
  return { pid, state, parentPid: Number(parentPid), sessionId: Number(sessionId), startTime };
}

/** The pids of our namespace; empty without `/proc`. */
export function listPids(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function countThreads(pid: number): number | undefined {
  try {
    return readdirSync(`/proc/${pid}/task`).length;
  } catch {
    return undefined;
  }
}

/** `/proc` may hide other users' processes, so only the system's own word means there is none. */
function isPidTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}

function isSame(one: ProcessIdentity, other: ProcessIdentity): boolean {
  return (
    one.pid === other.pid &&
    one.startTime === other.startTime &&
    one.pidNamespace === other.pidNamespace &&
    one.bootId === other.bootId &&
    one.hostId === other.hostId
  );
}

function readLine(path: string): string | undefined {
  return readText(path)?.trim() || undefined;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/**
 * Tells whether a process still has memory to run code in. One that was killed gives it up before it leaves the
 * process table, and its environment reads as empty from then on.
 */
export function hasAddressSpace(pid: number): boolean {
  try {
    return !/^0 /.test(readFileSync(`/proc/${pid}/statm`, 'utf8'));
  } catch {
    return false;
  }
}
