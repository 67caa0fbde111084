import { TurnInterruptedError } from '@holdfast/provider-core';
import type { AgentSessionHandle } from '../agent-session-handle.js';
import type {
  AgentSteerResult,
  AgentTurnEvent,
  ComposedTurn,
  RunningTurnEvent,
  TurnPart,
} from './agent-turn.js';
import { createDeferred } from './deferred.js';
import { completedEvent, failedEvent, isRunningEvent } from './final-event.js';
import { PartList } from './part-list.js';

/** What the body of a composed turn is given. */
export interface TurnStage {
  readonly turnId: string;
  /** For whatever the body waits for before it starts a part: aborts with the caller's signal or on `interrupt()`. */
  readonly waiting: AbortSignal;
  /** Makes `part` the running part: its events are passed on, `interrupt` goes to it. */
  follow(part: TurnPart): void;
  /** Settles the turn's `handle`; the first call counts. */
  publishHandle(handle: AgentSessionHandle): void;
}

interface ComposeRequest<Result> {
  readonly turnId: string;
  readonly signal?: AbortSignal | undefined;
  /** Runs at once; its outcome is the turn's. Throws `waiting.reason` before a part once that aborted. */
  readonly body: (stage: TurnStage) => Promise<Result>;
  /** Keeps a text in the durable queue. */
  readonly enqueue?: ((text: string) => Promise<unknown>) | undefined;
}

/**
 * Makes one awaitable and iterable turn of a body that runs turns of the layer below, one after the
 * other. Their events are passed on and numbered anew; the one final event comes from the body's
 * own outcome, so that it never says more than `await` does.
 */
export function composeTurn<Result extends { readonly handle: AgentSessionHandle }>({
  turnId,
  signal,
  body,
  enqueue,
}: ComposeRequest<Result>): ComposedTurn<Result> {
  const parts = new PartList();
  const interruption = new AbortController();
  const handle = createDeferred<AgentSessionHandle>();
  const waiting = signal ? AbortSignal.any([signal, interruption.signal]) : interruption.signal;
  const outcome = (async () =>
    body({
      turnId,
      waiting,
      follow: (part) => parts.add(part),
      publishHandle: handle.resolve,
    }))();
  outcome.then((result) => handle.resolve(result.handle), handle.reject).finally(() => parts.end());
  const events = ({ from = 0 }: { readonly from?: number | undefined } = {}) =>
    readEvents({ turnId, parts, outcome, from });
  return {
    turnId,
    handle: handle.promise,
    // biome-ignore lint/suspicious/noThenProperty: a turn is awaitable by design.
    then: (onFulfilled, onRejected) => outcome.then(onFulfilled, onRejected),
    catch: (onRejected) => outcome.catch(onRejected),
    finally: (onSettled) => outcome.finally(onSettled),
    events,
    [Symbol.asyncIterator]: () => events()[Symbol.asyncIterator](),
    steer: (text, options) => steerTurn(parts.current, text, options?.otherwise, enqueue),
    interrupt: () => interruptTurn(parts, interruption, outcome),
  };
}

async function steerTurn(
  running: TurnPart | undefined,
  text: string,
  otherwise: 'queue' | undefined,
  enqueue: ComposeRequest<never>['enqueue'],
): Promise<AgentSteerResult> {
  const result: AgentSteerResult = (await running?.steer?.(text)) ?? {
    outcome: 'refused',
    detail: 'no turn runs that could take it; nothing was put in',
  };
  // Only what surely was not put in may be queued: anything else could run twice.
  if (result.outcome !== 'refused' || otherwise !== 'queue' || !enqueue) return result;
  await enqueue(text);
  return { outcome: 'enqueued', detail: `kept in the queue: ${result.detail}` };
}

async function interruptTurn(
  parts: PartList,
  interruption: AbortController,
  outcome: Promise<unknown>,
): Promise<void> {
  const running = parts.current;
  const why = 'its caller interrupted it before it was sent';
  interruption.abort(new TurnInterruptedError({ accepted: false, inHistory: false, why }));
  if (running) await running.interrupt();
  else await Promise.allSettled([outcome]);
}

interface EventRequest<Result> {
  readonly turnId: string;
  readonly parts: PartList;
  readonly outcome: Promise<Result>;
  readonly from: number;
}

async function* readEvents<Result extends { readonly handle: AgentSessionHandle }>({
  turnId,
  parts,
  outcome,
  from,
}: EventRequest<Result>): AsyncGenerator<AgentTurnEvent, void, undefined> {
  let sequence = 0;
  let at: string | undefined;
  for await (const event of readParts(parts)) {
    if (typeof event === 'string') {
      at = event;
      continue;
    }
    if (sequence >= from) yield { ...event, turnId, sequence };
    sequence += 1;
  }
  const stamp = { turnId, sequence, at };
  const [settled] = await Promise.allSettled([outcome]);
  if (settled.status === 'fulfilled') {
    yield completedEvent(settled.value.handle, stamp);
    return;
  }
  yield failedEvent(settled.reason, stamp);
  throw settled.reason;
}

/** Every part's events in order; of a final one only its instant, since the outcome tells the end. */
async function* readParts(parts: PartList): AsyncGenerator<RunningTurnEvent | string> {
  for (let index = 0; await parts.has(index); index += 1) {
    const iterator = parts.at(index)?.events({ from: 0 })[Symbol.asyncIterator]();
    if (!iterator) return;
    try {
      for (let next = await step(iterator); !next.done; next = await step(iterator)) {
        yield isRunningEvent(next.value) ? next.value : next.value.at;
      }
    } finally {
      await iterator.return?.();
    }
  }
}

/** A part throws its error after its last event; the composed turn throws its own outcome instead. */
async function step<Event>(
  iterator: AsyncIterator<Event>,
): Promise<IteratorResult<Event, unknown>> {
  try {
    return await iterator.next();
  } catch {
    return { done: true, value: undefined };
  }
}
