import { readdirSync, readFileSync } from 'node:fs';
import { type Clock, systemClock } from '../time/clock.js';
import {
  listPids,
  observePid,
  type ProcessStatus,
  readProcessStartTime,
  readProcessStatus,
} from './process-identity.js';
import { errorCode } from './state-error.js';

/** One process of our pid namespace. */
export interface FoundProcess {
  readonly pid: number;
  readonly startTime: string;
}

/**
 * Every process, or every one of `pids`, whose environment holds `name=value`, reparented ones too.
 * Those of other users are not seen.
 */
export function findProcessesByEnvironment(
  name: string,
  value: string,
  pids: readonly number[] = listPids(),
): FoundProcess[] {
  const wanted = Buffer.from(`\0${name}=${value}\0`);
  const found: FoundProcess[] = [];
  for (const pid of pids) {
    // Around the reading, so that a pid that changes hands meanwhile is not taken.
    const before = readProcessStartTime(pid);
    if (before === undefined || !readEnvironment(pid).includes(wanted)) continue;
    if (readProcessStartTime(pid) === before) found.push({ pid, startTime: before });
  }
  return found;
}

/** Every process whose environment holds the variable, by its value. Those of other users are not seen. */
export function findProcessesWithVariable(name: string): ReadonlyMap<string, FoundProcess[]> {
  const found = new Map<string, FoundProcess[]>();
  const prefix = `\0${name}=`;
  for (const pid of listPids()) {
    const before = readProcessStartTime(pid);
    const environment = before === undefined ? '' : readEnvironment(pid).toString('latin1');
    const start = environment.indexOf(prefix);
    if (before === undefined || start < 0 || readProcessStartTime(pid) !== before) continue;
    const value = environment.slice(start + prefix.length, environment.indexOf('\0', start + 1));
    found.set(value, [...(found.get(value) ?? []), { pid, startTime: before }]);
  }
  return found;
}

const NUL = Buffer.from([0]);

function readEnvironment(pid: number): Buffer {
  const main = readBytes(`/proc/${pid}/environ`);
  if (main.length > 0) return Buffer.concat([NUL, main, NUL]);
  // A zombie whose other threads run shows its environment through those alone.
  const threads = listThreads(pid).map((thread) =>
    readBytes(`/proc/${pid}/task/${thread}/environ`),
  );
  return Buffer.concat(threads.flatMap((bytes) => [NUL, bytes, NUL]));
}

function listThreads(pid: number): string[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.length > 1 ? threads : [];
  } catch {
    return [];
  }
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

/** The process and everything below it, parents first. What was reparented is not in it. */
export function listProcessTree(pid: number): FoundProcess[] {
  const all = listPids().flatMap((each) => readProcessStatus(each) ?? []);
  const tree: ProcessStatus[] = all.filter((each) => each.pid === pid);
  // The list grows while it is walked: each one brings its children.
  for (const parent of tree) tree.push(...all.filter((each) => each.parentPid === parent.pid));
  return tree.map(({ pid: found, startTime }) => ({ pid: found, startTime }));
}

/**
 * Every process of the session that `leader` began, reparented ones too, and those that changed their environment. Empty once
 * the leader's pid has gone to another process: then the session had no member left.
 */
export function listSessionProcesses(leader: FoundProcess): FoundProcess[] {
  const successor = readProcessStatus(leader.pid);
  if (successor !== undefined && successor.startTime !== leader.startTime) return [];
  return (
    listPids()
      .flatMap((pid) => readProcessStatus(pid) ?? [])
      .filter(({ sessionId }) => sessionId === leader.pid)
      .map(({ pid, startTime }) => ({ pid, startTime }))
      // One that was killed is listed until its parent has heard of it.
      .filter(isLiving)
  );
}

/** How patiently processes are ended. */
export interface EndProcessesOptions {
  /** How long they may take to end by themselves after SIGTERM. */
  readonly graceMs: number;
  readonly clock?: Clock | undefined;
}

/** How many were ended, and the pids that were not. */
export interface EndProcessesReport {
  readonly ended: number;
  readonly left: number[];
}

/** How long a killed process may take until the system has put it away. */
const KILL_WAIT_MS = 5_000;
const POLL_MS = 10;

/**
 * Ends processes: SIGTERM leaf first, SIGKILL after the grace, then proof by pid and start time. A
 * pid that has changed hands is never signalled, nor are we ourselves.
 */
export async function endProcesses(
  processes: readonly FoundProcess[],
  { graceMs, clock = systemClock }: EndProcessesOptions,
): Promise<EndProcessesReport> {
  const others = processes.filter(({ pid }) => pid !== process.pid);
  const living = leafFirst(others.filter(isLiving));
  for (const each of living) sendSignal(each, 'SIGTERM');
  const stubborn = await waitForEnd(living, graceMs, clock);
  for (const each of stubborn) sendSignal(each, 'SIGKILL');
  const left = await waitForEnd(stubborn, KILL_WAIT_MS, clock);
  return { ended: living.length - left.length, left: left.map(({ pid }) => pid) };
}

function isLiving({ pid, startTime }: FoundProcess): boolean {
  return observePid(pid, startTime) !== 'dead';
}

/** A child before its parent, so that no parent starts it again or leaves it behind. */
function leafFirst(processes: readonly FoundProcess[]): FoundProcess[] {
  const parents = new Map(processes.map(({ pid }) => [pid, readProcessStatus(pid)?.parentPid]));
  const depth = (pid: number, seen = 0): number => {
    const parent = parents.get(pid);
    if (parent === undefined || !parents.has(parent) || seen > parents.size) return seen;
    return depth(parent, seen + 1);
  };
  return processes.toSorted((one, other) => depth(other.pid) - depth(one.pid));
}

function sendSignal({ pid, startTime }: FoundProcess, signal: NodeJS.Signals): void {
  if (observePid(pid, startTime) !== 'alive') return;
  try {
    process.kill(pid, signal);
  } catch (error) {
    // Gone meanwhile, or not ours to end: the proof afterwards says which.
    if (!['ESRCH', 'EPERM'].includes(errorCode(error) ?? '')) throw error;
  }
}

async function waitForEnd(
  processes: readonly FoundProcess[],
  limitMs: number,
  clock: Clock,
): Promise<FoundProcess[]> {
  const end = clock.monotonicMs() + limitMs;
  for (;;) {
    const living = processes.filter(isLiving);
    if (living.length === 0 || clock.monotonicMs() >= end) return living;
    await clock.sleep(POLL_MS);
  }
}
