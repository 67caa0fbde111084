import { StaleHandleError } from '../../errors/continuation-error.js';
import type { RecordCursor, RecordEvent } from '../../spec/record-event.js';
import type { PermissionLevel } from '../../spec/session-config.js';
import type { StreamSign } from '../../spec/stream-process.js';
import { followJsonLines } from '../../state/follow-json-lines.js';
import { EventQueue } from '../served-pane/event-queue.js';
import type { FollowedEvent } from '../session-transport.js';
import { findRecords, nativeIdOf } from '../typed-pane/session-files.js';
import { takeTask } from './frame-state.js';
import { isOver, type LiveStream, readState, refuseStale } from './live-stream.js';
import { countUsage } from './session-usage.js';
import { streamFiles } from './stream-files.js';
import { watchRequests } from './stream-requests.js';
import { TurnEnds } from './turn-ends.js';
import { readTurnMark } from './turn-mark.js';
import { writeLine } from './write-line.js';

const POLL_MS = 40;
const WATCH_MS = 200;
/** What the CLI wrote as it ended is read before the end is told. */
const LAST_WORDS_MS = 300;
/** How long after its end a turn's last row may come. */
const RECORD_MS = 700;
const STRICT_TO_LOOSE: readonly PermissionLevel[] = ['read_only', 'ask', 'edit', 'full'];

/** Merges what the process says (fast), what stands in the record (durable), and what becomes of the process. */
export async function* followStream(
  stream: LiveStream,
  since: RecordCursor,
  signal: AbortSignal,
): AsyncIterable<FollowedEvent> {
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal]);
  const follower = await createFollower(stream, since);
  const { queue } = follower;
  const sources = [
    followFrames(follower, ended),
    followRecord(follower, since, ended),
    watchProcess(follower, ended),
    ...(stream.delivery.answersRequests ? [watchRequests(stream, queue, ended)] : []),
  ];
  for (const source of sources) source.catch((error: unknown) => queue.fail(error));
  ended.addEventListener('abort', () => queue.end(), { once: true });
  if (ended.aborted) queue.end();
  try {
    yield* queue;
  } finally {
    stop.abort();
    await Promise.allSettled(sources);
  }
}

interface Follower {
  readonly stream: LiveStream;
  readonly queue: EventQueue<FollowedEvent>;
  readonly ends: TurnEnds;
  readonly framesFrom: number;
  readonly takeCost: (costUsdSoFar: number | undefined) => void;
  readonly tasks: Set<string>;
  readonly countRow: (row: unknown) => void;
}

async function createFollower(stream: LiveStream, since: RecordCursor): Promise<Follower> {
  const { framesFrom, costUsdBefore } =
    stream.delivery.mark ?? (await readTurnMark(stream.context));
  const state = await readState(stream);
  const counter = await countUsage(stream.way, since);
  const queue = new EventQueue<FollowedEvent>();
  const tasks = new Set(state.tasks);
  let costUsd: number | undefined;
  const ends = new TurnEnds(
    (event) => queue.push({ kind: 'record', event, durable: true }),
    () => ({ costUsd, backgroundWork: tasks.size, sessionUsage: counter.total() }),
  );
  return {
    stream,
    queue,
    ends,
    framesFrom,
    takeCost: (soFar) => {
      if (soFar === undefined || costUsdBefore === undefined) return;
      // Rounded: a difference of sums has digits of no meaning.
      costUsd = Number((soFar - costUsdBefore).toFixed(9));
    },
    tasks,
    countRow: counter.push,
  };
}

async function followFrames(follower: Follower, signal: AbortSignal): Promise<void> {
  const { way, context } = follower.stream;
  const { output } = streamFiles(context);
  const options = { fromByte: follower.framesFrom, signal };
  for await (const line of followJsonLines(output, options)) {
    if (line.replaced) continue;
    for (const sign of way.readFrame(line.value)) await takeSign(follower, sign, signal);
  }
}

async function takeSign(follower: Follower, sign: StreamSign, signal: AbortSignal): Promise<void> {
  const { stream, queue, ends, tasks } = follower;
  takeTask(tasks, sign);
  switch (sign.type) {
    case 'record':
      queue.push({ kind: 'record', event: sign.event, durable: false });
      return;
    case 'row':
      ends.said(sign.rowId);
      return;
    case 'turn_over':
      follower.takeCost(sign.costUsdSoFar);
      ends.over();
      if (sign.isSilent) tellSilent(follower, signal);
      return;
    case 'activity':
      ends.idle(sign.activity === 'idle');
      return;
    case 'turn_began':
      if (sign.nativeSessionId !== nativeIdOf(stream.context)) {
        queue.push({ kind: 'identity_changed', nativeSessionId: sign.nativeSessionId });
      }
      await refuseLooser(stream, sign.permissions);
  }
}

/** The record is given the time that it takes to tell more. */
function tellSilent({ stream, ends }: Follower, signal: AbortSignal): void {
  const { told } = ends;
  stream.context.clock.sleep(RECORD_MS, signal).then(
    () => {
      if (ends.told === told) ends.silent();
    },
    () => undefined,
  );
}

/** A turn that runs with more than the session allows is stopped before its answer can call a tool. */
async function refuseLooser(stream: LiveStream, found: PermissionLevel): Promise<void> {
  const { config, definition } = stream.context;
  const allowed = config.toolPolicy?.permissions ?? 'ask';
  if (STRICT_TO_LOOSE.indexOf(found) <= STRICT_TO_LOOSE.indexOf(allowed)) return;
  const { context, process, way } = stream;
  refuseStale(stream);
  await writeLine(context, process, way.write.interrupt(crypto.randomUUID()));
  throw new StaleHandleError(definition.id, 'tool_policy', { old: allowed, new: found });
}

async function followRecord(
  follower: Follower,
  since: RecordCursor,
  signal: AbortSignal,
): Promise<void> {
  const { way, context } = follower.stream;
  const path = since.path ?? (await locateRecord(follower.stream, signal));
  if (path === undefined) return;
  const reader = way.createRecordReader();
  const fromByte = since.path === undefined ? 0 : since.length;
  for await (const line of followJsonLines(path, { fromByte, signal })) {
    if (line.replaced) continue;
    follower.countRow(line.value);
    const events: readonly RecordEvent[] = reader.push(line.value);
    for (const event of events) {
      const rowId = event.type === 'turn_ended' ? event.rowId : undefined;
      follower.ends.take(event, rowId ?? readRowId(line.value));
      context.logger.debug({ type: event.type }, 'record read');
    }
  }
}

function readRowId(row: unknown): string | undefined {
  const hasId = typeof row === 'object' && row !== null && 'uuid' in row;
  return hasId && typeof row.uuid === 'string' ? row.uuid : undefined;
}

/** The CLI makes the record with the first message. */
async function locateRecord(
  { way, context }: LiveStream,
  signal: AbortSignal,
): Promise<string | undefined> {
  while (!signal.aborted) {
    const [path] = await findRecords(way, context);
    if (path !== undefined) return path;
    await context.clock.sleep(POLL_MS, signal).catch(() => undefined);
  }
  return undefined;
}

async function watchProcess({ stream, queue, ends }: Follower, signal: AbortSignal): Promise<void> {
  const { clock } = stream.context;
  while (!signal.aborted) {
    if (isOver(stream)) {
      await clock.sleep(LAST_WORDS_MS, signal).catch(() => undefined);
      ends.gone();
      queue.push({ kind: 'transport_lost', why: `process ${stream.process.pid} has ended` });
      return;
    }
    await clock.sleep(WATCH_MS, signal).catch(() => undefined);
  }
}
