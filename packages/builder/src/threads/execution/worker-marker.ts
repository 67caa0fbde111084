import {
  type Clock,
  endProcesses,
  type FoundProcess,
  findProcessesByEnvironment,
  listProcessTree,
  listSessionProcesses,
  observePid,
  ownIdentity,
} from '@holdfast/agent';
import { digestOfText } from '../contract/canonical-json.js';

/** In the environment of a worker and of everything that it starts; the layers below let it through. */
export const MARKER_VARIABLE = 'HOLDFAST_WORKER';

const MARK_DIGITS = 32;
/** How long what was killed may take to be gone. */
const END_LIMIT_MS = 60_000;

/** The mark of a worker: who may speak to it, and whose it is. It tells nothing of the nonce. */
export function markOf(transportNonce: string): string {
  const { pid, startTime, pidNamespace } = ownIdentity();
  const namespace = pidNamespace.replace(/\D/g, '');
  return [digestOfNonce(transportNonce), pid, startTime, namespace].join('.');
}

/** Whether a worker with this mark was started by whoever knows the nonce. */
export function isMarkOf(mark: string, transportNonce: string): boolean {
  return mark.split('.')[0] === digestOfNonce(transportNonce);
}

function digestOfNonce(transportNonce: string): string {
  return digestOfText(transportNonce).slice('sha256:'.length).slice(0, MARK_DIGITS);
}

/** What a worker's processes are found by. */
export interface MarkedWorker {
  readonly mark: string;
  /** The worker itself, which leads a session of its own. */
  readonly leader?: FoundProcess | undefined;
}

/** Every living process of a worker but ourselves: by its mark, its session and its descent. */
function findWorkerProcesses({ mark, leader }: MarkedWorker): readonly FoundProcess[] {
  const found = [
    ...(leader ? [...listSessionProcesses(leader), ...listDescendants(leader)] : []),
    ...findProcessesByEnvironment(MARKER_VARIABLE, mark),
  ];
  const each = new Map(found.map((one) => [one.pid, one]));
  each.delete(process.pid);
  return [...each.values()].filter(isLiving);
}

/** Empty for a pid that has changed hands. */
function listDescendants(leader: FoundProcess): readonly FoundProcess[] {
  return observePid(leader.pid, leader.startTime) === 'dead' ? [] : listProcessTree(leader.pid);
}

function isLiving({ pid, startTime }: FoundProcess): boolean {
  return observePid(pid, startTime) !== 'dead';
}

/** How a worker's processes are ended. */
interface EndWorkerOptions {
  /** Between the wish to end and the end. */
  readonly graceMs: number;
  readonly clock: Clock;
  /** Processes that were seen below the worker, wherever they are now. */
  readonly seen?: readonly FoundProcess[] | undefined;
}

/** Ends everything of a worker, what is started meanwhile too; gives the pids of what could not be ended. */
export async function endWorkerProcesses(
  worker: MarkedWorker,
  { graceMs, clock, seen = [] }: EndWorkerOptions,
): Promise<readonly number[]> {
  const end = clock.monotonicMs() + END_LIMIT_MS;
  for (let grace = graceMs; ; grace = 0) {
    const found = [...findWorkerProcesses(worker), ...seen.filter(isLiving)];
    if (found.length === 0) return [];
    // Also where each round ends all it found: what starts itself anew all the time has no last one.
    if (clock.monotonicMs() >= end) return found.map(({ pid }) => pid);
    await endProcesses(withoutDoubles(found), { graceMs: grace, clock });
  }
}

function withoutDoubles(processes: readonly FoundProcess[]): readonly FoundProcess[] {
  return [...new Map(processes.map((each) => [each.pid, each])).values()];
}
