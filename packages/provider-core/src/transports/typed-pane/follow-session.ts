import type { RecordCursor, RecordEvent } from '../../spec/record-event.js';
import type { UsageCounter } from '../../spec/stream-process.js';
import type { GateVerdict, PaneSignal } from '../../spec/typed-pane.js';
import { followJsonLines } from '../../state/follow-json-lines.js';
import { EventQueue } from '../served-pane/event-queue.js';
import type { FollowedEvent } from '../session-transport.js';
import { countUsage } from '../stream-process/session-usage.js';
import { hearSignals } from './http-signals.js';
import type { LivePane } from './live-pane.js';
import { watchRequests } from './pane-requests.js';
import type { RunningDelivery } from './running-delivery.js';
import { locateRecord, nativeIdOf, spoolPath } from './session-files.js';
import { watchPane } from './watch-pane.js';

interface FollowRequest {
  readonly pane: LivePane;
  readonly since: RecordCursor;
  readonly delivery: RunningDelivery;
}

/** Merges what hooks say (fast), what stands in the record (durable), and what becomes of the process. */
export async function* followSession(
  { pane, since, delivery }: FollowRequest,
  signal: AbortSignal,
): AsyncIterable<FollowedEvent> {
  const queue = new EventQueue<FollowedEvent>();
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal]);
  const sink: Sink = { pane, queue, delivery, heard: new Set() };
  const deafen = await hearSignals(pane.way, pane.context, (sign) => hear(sign, sink));
  const sources = [
    followSpool(sink, ended),
    followRecord(sink, since, ended),
    watchPane(pane, queue, ended),
    ...(delivery.answersRequests ? [watchRequests(pane, delivery, queue, ended)] : []),
  ];
  for (const source of sources) source.catch((error: unknown) => queue.fail(error));
  ended.addEventListener('abort', () => queue.end(), { once: true });
  if (ended.aborted) queue.end();
  try {
    yield* queue;
  } finally {
    stop.abort();
    deafen();
    await Promise.allSettled(sources);
  }
}

interface Sink {
  readonly pane: LivePane;
  readonly queue: EventQueue<FollowedEvent>;
  readonly delivery: RunningDelivery;
  /** What came by one way, until it comes by the other. */
  readonly heard: Set<string>;
}

/** Takes what a hook said, over http or in the spool, whichever comes first; the second is left out. */
function hear(sign: PaneSignal, { queue, delivery, heard }: Sink): void {
  if (sign.type !== 'record') return;
  const key = JSON.stringify(sign.event);
  if (heard.delete(key)) return;
  heard.add(key);
  const event = withOrigin(sign.event, delivery);
  // The record does not tell of background work; the hook at the turn's end does.
  if (event.type === 'turn_ended') delivery.backgroundTasks = event.backgroundWork;
  // The request itself is told, with what it needs to be answered.
  if (event.type === 'waiting' && event.on === 'permission' && delivery.answersRequests) return;
  queue.push({ kind: 'record', event, durable: false });
}

/** The hook at a turn's end does not say who asked for the turn; the one at its begin did. */
function withOrigin(event: RecordEvent, { backgroundTurns }: RunningDelivery): RecordEvent {
  if (event.type !== 'turn_ended' || event.nativeTurnId === undefined) return event;
  return backgroundTurns.has(event.nativeTurnId) ? { ...event, origin: 'background' } : event;
}

async function followSpool(sink: Sink, signal: AbortSignal): Promise<void> {
  const { queue, delivery } = sink;
  const { way, context } = sink.pane;
  const fromByte = delivery.spoolFrom;
  for await (const { value } of lines(spoolPath(way, context), fromByte, signal)) {
    const sign = way.readSignal(value);
    if (sign?.type === 'session_started' && sign.nativeSessionId !== nativeIdOf(context)) {
      queue.push({ kind: 'identity_changed', nativeSessionId: sign.nativeSessionId });
    }
    if (sign?.type === 'gate') takeVerdict(sign.verdict, delivery, queue);
    if (sign) hear(sign, sink);
  }
}

function takeVerdict(
  verdict: GateVerdict,
  { armed, steered, backgroundTurns }: RunningDelivery,
  queue: EventQueue<FollowedEvent>,
): void {
  if (verdict.kind === 'other' && verdict.isBackground && verdict.nativeTurnId !== undefined) {
    backgroundTurns.add(verdict.nativeTurnId);
  }
  if (verdict.kind !== 'passed') return;
  const steer = steered.get(verdict.token);
  const ours = verdict.token === armed?.token ? armed : undefined;
  const text = steer?.text ?? ours?.text;
  if (text === undefined) return;
  const clientMessageId = steer?.steerId ?? ours?.turnId;
  const event: RecordEvent = { type: 'message_accepted', text, clientMessageId, origin: 'user' };
  queue.push({ kind: 'record', event, durable: false });
}

async function followRecord(
  { pane, queue, delivery }: Sink,
  since: RecordCursor,
  signal: AbortSignal,
): Promise<void> {
  const { way, context } = pane;
  const path = since.path ?? (await locateRecord(way, context, signal));
  if (path === undefined) return;
  const reader = way.createRecordReader();
  const counter = await countUsage(way, since);
  for await (const { value } of lines(path, since.path === undefined ? 0 : since.length, signal)) {
    counter.push(value);
    for (const told of reader.push(value)) {
      // No hook tells what such an end left running; the CLI's own word on it remains.
      if (told.type === 'turn_failed' || told.type === 'turn_interrupted')
        delivery.backgroundTasks = 0;
      const event = withFacts(told, delivery, counter);
      queue.push({ kind: 'record', event, durable: true });
      context.logger.debug({ type: event.type }, 'record read');
    }
  }
}

/** Adds to a turn's end what its own rows do not say. */
function withFacts(
  event: RecordEvent,
  { backgroundTasks: backgroundWork }: RunningDelivery,
  counter: UsageCounter,
): RecordEvent {
  if (event.type !== 'turn_ended') return event;
  return { ...event, backgroundWork, sessionUsage: counter.total() };
}

async function* lines(path: string, fromByte: number, signal: AbortSignal) {
  for await (const line of followJsonLines(path, { fromByte, signal })) {
    if (!line.replaced) yield line;
  }
}
