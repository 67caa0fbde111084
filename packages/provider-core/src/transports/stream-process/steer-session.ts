import { SessionBusyError } from '../../errors/turn-error.js';
import type { RecordCursor } from '../../spec/record-event.js';
import type { SteerResult } from '../../spec/turn.js';
import type { SteerRequest } from '../session-transport.js';
import { readSessionRecord, takeRecordCursor } from '../typed-pane/read-session-record.js';
import { ask, isOver, type LiveStream, readActivity } from './live-stream.js';
import { writeLine } from './write-line.js';

const POLL_MS = 50;
const TAKE_BACK_MS = 3_000;
/** The record is written a moment after it came true. */
const RECORD_MS = 500;

/** Puts a text into the running turn. What became of it is read from the record; what still waits at the deadline is taken back. */
export async function steerSession(
  stream: LiveStream,
  request: SteerRequest,
): Promise<SteerResult> {
  const { way, context, fence, delivery } = stream;
  const { steerId, text } = request;
  const plan = way.planMessage({ id: steerId, text, images: [], cliVersion: context.cliVersion });
  if (plan.kind === 'refused') return { outcome: 'refused', detail: plan.detail };
  const activity = await readActivity(stream);
  if (activity !== 'busy' && activity !== 'waiting') {
    return { outcome: 'refused', detail: 'no turn runs' };
  }
  const since = await takeRecordCursor(way, context);
  if (!fence.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
  delivery.steered.add(steerId);
  try {
    if ((await writeLine(context, stream.process, plan.line)) === 'no_process') {
      return { outcome: 'refused', detail: 'the process has ended' };
    }
    return (await watchSteered(stream, request, since)) ?? (await takeBack(stream, steerId, since));
  } finally {
    delivery.steered.delete(steerId);
  }
}

/** What the record says of the text; nothing by the deadline, or when the caller gives up. */
async function watchSteered(
  stream: LiveStream,
  { steerId, deadlineMs, signal }: SteerRequest,
  since: RecordCursor,
): Promise<SteerResult | undefined> {
  const { clock } = stream.context;
  const end = clock.monotonicMs() + deadlineMs;
  while (!signal.aborted && clock.monotonicMs() < end) {
    const found = await readSteered(stream, steerId, since);
    if (found) return found;
    if (isOver(stream)) return undefined;
    await clock.sleep(POLL_MS, signal).catch(() => undefined);
  }
  return undefined;
}

async function readSteered(
  { way, context }: LiveStream,
  steerId: string,
  since: RecordCursor,
): Promise<SteerResult | undefined> {
  const reading = await readSessionRecord(way, context, since);
  if (reading.state !== 'readable') return undefined;
  for (const event of reading.events) {
    if (event.type !== 'message_accepted' || event.clientMessageId !== steerId) continue;
    // A turn of its own has an id of its own.
    return event.nativeTurnId === undefined
      ? { outcome: 'accepted', detail: 'the running turn took it in after a tool' }
      : { outcome: 'queued', detail: 'the running turn ended first; it runs as a turn of its own' };
  }
  return undefined;
}

async function takeBack(
  stream: LiveStream,
  steerId: string,
  since: RecordCursor,
): Promise<SteerResult> {
  const { way, context } = stream;
  const answer = isOver(stream)
    ? undefined
    : await ask(stream, (requestId) => way.write.takeBack(requestId, steerId), TAKE_BACK_MS);
  if (answer?.isDone) {
    return { outcome: 'refused', detail: 'it still waited behind the turn and was taken back' };
  }
  await context.clock.sleep(RECORD_MS);
  const found = await readSteered(stream, steerId, since);
  if (found) return found;
  return { outcome: 'unknown', detail: 'it left us, and the record does not hold it' };
}
