import { readFile } from 'node:fs/promises';
import { observePid, ownIdentity, type ProcessState } from '../../state/process-identity.js';
import {
  type EndProcessesReport,
  endProcesses,
  type FoundProcess,
  findProcessesByEnvironment,
  listProcessTree,
} from '../../state/process-tree.js';
import type { Clock } from '../../time/clock.js';
import type { ServerRecord } from './server-record.wire.js';

/** The variable by which every process of ours is found again. */
export const NONCE_VARIABLE = 'HOLDFAST_NONCE';

/** Whether the server's process lives. One that was never seen to answer is judged by its nonce. */
export function observeServer(record: ServerRecord): ProcessState {
  const place = judgePlace(record);
  if (place !== 'here') return place;
  if (record.server) return observePid(record.server.pid, record.server.startTime);
  return findProcessesByEnvironment(NONCE_VARIABLE, record.nonce).length > 0 ? 'unknown' : 'dead';
}

/** Whether the script beside the server lives. */
export function observeWatchdog({ watchdog }: ServerRecord): ProcessState {
  return watchdog ? observePid(watchdog.pid, watchdog.startTime) : 'dead';
}

/** Whether the living process `pid` is the server, or was started by it: a launcher's child carries the nonce. */
export async function isOfServer(record: ServerRecord, pid: number): Promise<boolean> {
  if (judgePlace(record) !== 'here') return false;
  if (record.server?.pid === pid) return observeServer(record) === 'alive';
  const environ = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
  return environ.split('\0').includes(`${NONCE_VARIABLE}=${record.nonce}`);
}

/** How often is looked again for a process that was forked while the others were ended. */
const ROUNDS = 5;

/** Ends the server, its watchdog and all they started; the proof is pid and start time. */
export async function endServerProcesses(
  record: ServerRecord,
  options: { readonly graceMs: number; readonly clock: Clock },
): Promise<EndProcessesReport> {
  let ended = 0;
  let left: readonly number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = findServerProcesses(record);
    if (found.length === 0) break;
    const report = await endProcesses(found, options);
    ended += report.ended;
    left = report.left;
    if (left.length > 0) break;
  }
  return { ended, left: [...left] };
}

function findServerProcesses(record: ServerRecord): readonly FoundProcess[] {
  if (judgePlace(record) !== 'here') return [];
  const living = [record.watchdog, record.server].filter((each) => each !== undefined);
  const trees = living
    .filter(({ pid, startTime }) => observePid(pid, startTime) === 'alive')
    .flatMap(({ pid }) => listProcessTree(pid));
  const marked = findProcessesByEnvironment(NONCE_VARIABLE, record.nonce);
  return withoutDoubles([...trees, ...marked]).filter(
    ({ pid, startTime }) => observePid(pid, startTime) !== 'dead',
  );
}

function withoutDoubles(processes: readonly FoundProcess[]): FoundProcess[] {
  return [...new Map(processes.map((each) => [each.pid, each])).values()];
}

/** A pid says something only in the boot and the namespace it was written down in. */
function judgePlace({ bootId, pidNamespace }: ServerRecord): 'here' | 'dead' | 'unknown' {
  const here = ownIdentity();
  if (bootId !== here.bootId) return 'dead';
  return pidNamespace === here.pidNamespace ? 'here' : 'unknown';
}
