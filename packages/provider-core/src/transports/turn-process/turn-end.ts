import type { TurnProcess } from '../../spec/turn-process.js';
import { endProcesses } from '../../state/process-tree.js';
import { waitUntil } from '../../time/wait-until.js';
import { readSessionRecord } from '../served-pane/session-record.js';
import type { SessionContext } from '../session-transport.js';
import {
  listTurnProcesses,
  observeTurnProcess,
  readProcessRecord,
  removeProcessRecord,
} from './process-record.js';
import type { ProcessRecord } from './process-record.wire.js';
import { removeHomeFiles } from './start-turn.js';

/** How long a process may take to leave once its turn has ended. */
const LEAVE_MS = 5_000;

/** Whether the provider's record holds the end of the turn that the process was started for. */
export async function hasTurnEnded(
  way: TurnProcess,
  context: SessionContext,
  { cursor }: ProcessRecord,
): Promise<boolean> {
  const stored = await readSessionRecord(way, context, cursor);
  return stored.state === 'readable' && stored.events.some(({ type }) => ENDS.has(type));
}

const ENDS: ReadonlySet<string> = new Set(['turn_ended', 'turn_failed', 'turn_interrupted']);

/** What was left of the last turn's process. */
export type LeftBehind = 'nothing' | 'running' | 'lost';

/**
 * Puts the last turn's process away once its turn has ended; one that runs on is left alone. `lost` when it ended
 * before its turn did.
 */
export async function putAway(way: TurnProcess, context: SessionContext): Promise<LeftBehind> {
  const record = await readProcessRecord(context.filesDir);
  if (!record) return 'nothing';
  if (await hasTurnEnded(way, context, record)) {
    await waitForLeaving(record, context);
    await removeProcessRecord(context.filesDir);
    await removeHomeFiles(way, context);
    return 'nothing';
  }
  if (observeTurnProcess(record) !== 'dead') return 'running';
  await removeHomeFiles(way, context);
  // Its record stays until the next turn has one: it says that a turn was cut off.
  return 'lost';
}

/** It closes its servers and its record; what hangs in that is ended. */
async function waitForLeaving(record: ProcessRecord, context: SessionContext): Promise<void> {
  const { clock, config } = context;
  const isGone = await waitUntil(() => observeTurnProcess(record) === 'dead', {
    awaiting: 'the end of the process of the last turn',
    deadlineMs: LEAVE_MS,
    intervalMs: 5,
    clock,
  }).catch(() => false);
  // A server that ignores its end outlives the CLI that started it.
  if (!isGone || config.mcpServers !== undefined) await endTurn(record, context);
}

/** Ends the turn's process and all that it started, at once. */
export async function endTurn(record: ProcessRecord, context: SessionContext): Promise<void> {
  await endProcesses(listTurnProcesses(record, context), { graceMs: 0, clock: context.clock });
}
