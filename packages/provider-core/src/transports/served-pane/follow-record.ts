import type { RecordCursor, RecordEvent } from '../../spec/record-event.js';
import type { ServedPane } from '../../spec/served-pane.js';
import { followJsonLines } from '../../state/follow-json-lines.js';
import { isStateUnusable } from '../../state/state-error.js';
import type { FollowedEvent, SessionContext } from '../session-transport.js';
import type { RunningServer } from './ensure-server.js';
import type { EventQueue } from './event-queue.js';
import { countBackgroundWork } from './session-activity.js';

export interface FollowRecordRequest {
  readonly way: ServedPane;
  readonly context: SessionContext;
  readonly server: RunningServer;
  readonly opened: { readonly nativeSessionId: string };
  readonly path: string | undefined;
  readonly since: RecordCursor;
  /** Everything before this message of ours is left out. */
  readonly startAtMessage?: string | undefined;
  /** What ran already when the session was opened. */
  readonly workBefore: Promise<number | 'unknown'>;
  readonly queue: EventQueue<FollowedEvent>;
  readonly signal: AbortSignal;
}

/** Puts everything the record gains into the queue, until the signal aborts. */
export async function followRecord(request: FollowRecordRequest): Promise<void> {
  const { way, context, path, since, queue, signal } = request;
  if (path === undefined) return;
  const reader = way.record.createReader();
  let usedTools = false;
  let isSkipping = request.startAtMessage !== undefined;
  try {
    const options = { fromByte: since.length, fileId: since.fileId, signal, clock: context.clock };
    for await (const line of followJsonLines(path, options)) {
      if (line.replaced) {
        queue.push({ kind: 'transport_lost', why: 'the record is another file now' });
        return;
      }
      for (const event of reader.read(line.value)) {
        if (isSkipping && !isMessage(event, request.startAtMessage)) continue;
        isSkipping = false;
        usedTools ||= event.type === 'tool_started';
        const told = await withBackgroundWork(request, event, usedTools);
        queue.push({ kind: 'record', event: told, durable: true });
      }
    }
  } catch (error) {
    if (signal.aborted) return;
    if (isStateUnusable(error)) queue.push({ kind: 'transport_lost', why: error.message });
    else queue.fail(error);
  }
}

function isMessage(event: RecordEvent, clientMessageId: string | undefined): boolean {
  return event.type === 'message_accepted' && event.clientMessageId === clientMessageId;
}

/** The record does not say what a tool left running; the server does. It is asked where there can be something. */
async function withBackgroundWork(
  { way, server, opened, workBefore }: FollowRecordRequest,
  event: RecordEvent,
  usedTools: boolean,
): Promise<RecordEvent> {
  if (event.type !== 'turn_ended') return event;
  if (!usedTools && (await workBefore) === 0) return event;
  const { nativeSessionId } = opened;
  const work = await countBackgroundWork({ way, connection: server.connection, nativeSessionId });
  // What cannot be seen is not nothing.
  return { ...event, backgroundWork: work === 'unknown' ? 1 : work };
}
