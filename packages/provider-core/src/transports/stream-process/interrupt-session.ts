import { TimedOutError } from '../../errors/turn-error.js';
import { endProcesses } from '../../state/process-tree.js';
import type { InterruptOptions } from '../session-transport.js';
import { clearRequests } from '../typed-pane/approver.js';
import { readSessionRecord } from '../typed-pane/read-session-record.js';
import { listOwnProcesses } from '../typed-pane/session-files.js';
import { ask, isOver, type LiveStream, readActivity, refuseStale } from './live-stream.js';
import { readTurnMark } from './turn-mark.js';

const POLL_MS = 20;
const ASK_MS = 2_000;
/** Asked again when the turn goes on: a message that waited behind it runs at once. */
const PATIENCE_MS = 2_000;
/** The record is written a moment after the process is idle. */
const RECORD_MS = 1_500;
const GRACE_MS = 1_000;

/** Interrupts the running turn, proven by the record or by an idle process; past the deadline all its processes are ended. */
export async function interruptSession(
  stream: LiveStream,
  { deadlineMs, turnId }: InterruptOptions,
): Promise<void> {
  const { way, context, delivery } = stream;
  const { clock } = context;
  const end = clock.monotonicMs() + deadlineMs;
  delivery.isInterrupted = true;
  try {
    // What waits behind the turn would run as soon as it ends.
    for (const id of [...delivery.steered, turnId]) {
      await askToStop(stream, (requestId) => way.write.takeBack(requestId, id));
    }
    while (clock.monotonicMs() < end && !isOver(stream)) {
      await askToStop(stream, (requestId) => way.write.interrupt(requestId));
      const patience = Math.min(end, clock.monotonicMs() + PATIENCE_MS);
      if (await becomesQuiet(stream, turnId, patience)) break;
    }
    if (!(await isQuiet(stream, turnId))) {
      refuseStale(stream);
      await endProcesses(listOwnProcesses(context), { graceMs: GRACE_MS });
    }
    // The CLI ends the hook that asked; what it asked stays behind.
    refuseStale(stream);
    await clearRequests(way, context);
    await waitForRecord(stream, turnId);
  } finally {
    delivery.isInterrupted = false;
  }
}

async function askToStop(stream: LiveStream, write: (requestId: string) => string): Promise<void> {
  try {
    await ask(stream, write, ASK_MS);
  } catch (error) {
    // It reads nothing any more, and was ended for that.
    if (!(error instanceof TimedOutError)) throw error;
  }
}

async function becomesQuiet(stream: LiveStream, turnId: string, end: number): Promise<boolean> {
  const { clock } = stream.context;
  for (;;) {
    if (await isQuiet(stream, turnId)) return true;
    if (clock.monotonicMs() >= end) return false;
    await clock.sleep(POLL_MS);
  }
}

/** Agents may go on behind a turn that is over: the record tells of the turn alone. */
async function isQuiet(stream: LiveStream, turnId: string): Promise<boolean> {
  const activity = await readActivity(stream);
  if (activity === 'idle' || activity === 'unknown') return true;
  return (await readTurnState(stream, turnId)) === 'over';
}

async function waitForRecord(stream: LiveStream, turnId: string): Promise<void> {
  const { clock } = stream.context;
  const end = clock.monotonicMs() + RECORD_MS;
  while (clock.monotonicMs() < end) {
    if ((await readTurnState(stream, turnId)) !== 'open') return;
    await clock.sleep(POLL_MS);
  }
}

async function readTurnState(
  { way, context, delivery }: LiveStream,
  turnId: string,
): Promise<'none' | 'open' | 'over'> {
  const cursor = delivery.mark?.cursor ?? (await readTurnMark(context)).cursor;
  const reading = await readSessionRecord(way, context, cursor);
  if (reading.state !== 'readable') return 'none';
  let state: 'none' | 'open' | 'over' = 'none';
  for (const event of reading.events) {
    if (event.type === 'message_accepted' && event.clientMessageId === turnId) state = 'open';
    if (state === 'open' && OVER.has(event.type)) state = 'over';
  }
  return state;
}

const OVER: ReadonlySet<string> = new Set(['turn_ended', 'turn_failed', 'turn_interrupted']);
