import { SessionBusyError, TimedOutError } from '../../errors/turn-error.js';
import { endProcesses } from '../../state/process-tree.js';
import { errorCode } from '../../state/state-error.js';
import { waitUntil } from '../../time/wait-until.js';
import type { LeaseFence, SessionContext } from '../session-transport.js';
import {
  findTurnLeader,
  listTurnProcesses,
  observeTurnProcess,
  readProcessRecord,
} from './process-record.js';
import type { ProcessRecord } from './process-record.wire.js';

/** Asks the turn's process to stop, as Ctrl-C does; past the deadline all of it is ended. Resolves when it is gone. */
export async function interruptTurn(
  context: SessionContext,
  fence: LeaseFence,
  deadlineMs: number,
): Promise<void> {
  const { filesDir, clock } = context;
  const record = await readProcessRecord(filesDir);
  if (!record || observeTurnProcess(record) === 'dead') return;
  if (!fence.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
  sendInterrupt(record);
  try {
    await waitUntil(() => observeTurnProcess(record) === 'dead', {
      awaiting: 'the interrupted process to end',
      deadlineMs,
      intervalMs: 5,
      clock,
      layer: 'turn-process',
    });
  } catch (error) {
    context.logger.warn({ err: error }, 'interrupt by force');
  }
  if (!fence.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
  // Also what it started and left behind.
  const { left } = await endProcesses(listTurnProcesses(record, context), { graceMs: 0, clock });
  if (left.length === 0) return;
  throw new TimedOutError({
    awaiting: `the end of the turn's processes (pid ${left.join(', ')})`,
    limitMs: deadlineMs,
    layer: 'turn-process',
  });
}

/** To the CLI alone: it ends its tools and writes down that the turn was interrupted. */
function sendInterrupt(record: ProcessRecord): void {
  const pid = findTurnLeader(record);
  if (pid === undefined) return;
  try {
    process.kill(pid, 'SIGINT');
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}
