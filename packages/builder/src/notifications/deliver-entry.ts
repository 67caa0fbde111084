import { type Clock, isoInstant } from '@holdfast/agent';
import type { SessionTurns } from '../executions/session-turns.js';
import { judgeFailure } from './judge-failure.js';
import type {
  DeliveryState,
  DeliveryTarget,
  NotificationHandler,
  OutboxEntry,
} from './notification.js';
import { beginTry, dueMs, settleTry, type TryResult } from './settle-try.js';

/** What an entry is delivered with. */
export interface DeliveryContext {
  readonly sessions: SessionTurns;
  readonly onNotification?: NotificationHandler | undefined;
  readonly whenBusy: 'wait' | 'steer';
  readonly clock: Clock;
}

interface DeliverRequest extends DeliveryContext {
  readonly entry: OutboxEntry;
  readonly save: (entry: OutboxEntry) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Tries every target that is pending and due, each on its own, and gives the entry as it then stands on disk. */
export async function deliverEntry(request: DeliverRequest): Promise<OutboxEntry> {
  const nowMs = request.clock.now();
  const held = holdEntry(request);
  const due = (['session', 'handler'] as const).filter(
    (target) => (dueMs(request.entry[target], nowMs) ?? Number.POSITIVE_INFINITY) <= nowMs,
  );
  // One target's failure must not leave the other's try running unseen.
  const tries = await Promise.allSettled(due.map((target) => tryTarget(request, held, target)));
  const failed = tries.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
  return held.current();
}

interface HeldEntry {
  readonly current: () => OutboxEntry;
  readonly change: (target: DeliveryTarget, state: DeliveryState) => Promise<void>;
}

/** Two targets settle in any order, but an entry is written whole: one write after the other. */
function holdEntry({ entry, save, clock }: DeliverRequest): HeldEntry {
  let current = entry;
  let writing: Promise<void> = Promise.resolve();
  return {
    current: () => current,
    change: (target, state) => {
      writing = writing
        .catch(() => {})
        .then(async () => {
          const next = { ...current, [target]: state, updatedAt: isoInstant(clock) };
          await save(next);
          current = next;
        });
      return writing;
    },
  };
}

async function tryTarget(
  request: DeliverRequest,
  held: HeldEntry,
  target: DeliveryTarget,
): Promise<void> {
  const before = held.current()[target];
  const tried = beginTry(before);
  await held.change(target, tried);
  if (tried.state !== 'pending') return;
  const result = await (target === 'session' ? sendToSession(request, held) : tellHandler(request));
  const reached = held.current()[target];
  if ('error' in result && request.signal.aborted && !reached.steering) {
    // We were told to stop; that says nothing about the target.
    await held.change(target, before);
    request.signal.throwIfAborted();
  }
  await held.change(target, settleTry(reached, result, request.clock.now()));
}

async function sendToSession(request: DeliverRequest, held: HeldEntry): Promise<TryResult> {
  const { entry, sessions, whenBusy, signal } = request;
  if (!entry.target) throw new Error('unreachable: without a target nothing is pending');
  try {
    const delivery = await sessions.send({
      owner: entry.target,
      turnId: entry.turnId,
      text: entry.text,
      whenBusy,
      signal,
      aroundSteer: (steer) => keepSteering(held, steer),
    });
    return { via: delivery.state === 'steered' ? 'steered' : 'turn' };
  } catch (error) {
    return { error, verdict: judgeFailure(error) };
  }
}

/** On disk before the text leaves us, and off it again only when the turn surely did not take it. */
async function keepSteering<Result extends { readonly outcome: string }>(
  held: HeldEntry,
  steer: () => Promise<Result>,
): Promise<Result> {
  await held.change('session', { ...held.current().session, steering: true });
  const result = await steer();
  if (result.outcome !== 'refused') return result;
  const { steering: _steering, ...rest } = held.current().session;
  await held.change('session', rest);
  return result;
}

async function tellHandler({ entry, onNotification, signal }: DeliverRequest): Promise<TryResult> {
  if (!onNotification) return { error: new TypeError(NO_HANDLER), verdict: { next: 'give_up' } };
  const { notificationId, executionId, outcome, text, target, at } = entry;
  const notification = {
    notificationId,
    executionId,
    outcome,
    text,
    at,
    ...(target && { target }),
  };
  try {
    await untilAborted(signal, async () => onNotification(notification, { signal }));
    return { via: 'handler' };
  } catch (error) {
    return { error, verdict: { next: 'retry' } };
  }
}

const NO_HANDLER =
  'This builder was given no onNotification. Make one with it, then retry the notification.';

/** A handler that heeds no signal must not keep a builder from closing. */
async function untilAborted(signal: AbortSignal, act: () => Promise<void>): Promise<void> {
  signal.throwIfAborted();
  const settled = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true, signal: settled.signal });
  });
  try {
    await Promise.race([act(), aborted]);
  } finally {
    settled.abort();
  }
}
