import { type Clock, isTurnError, type Lease, systemClock } from '@holdfast/agent';
import type { Store } from '../persistence/store.js';
import { findHolder } from './inspect-learning-lock.js';
import {
  drawTicket,
  findTicket,
  isPresent,
  type LearningTicket,
  listTicketNumbers,
  lockKeys,
} from './learning-ticket.js';
import { encodeHolder } from './learning-ticket.wire.js';

export { inspectLearningLock, type LearningLockState } from './inspect-learning-lock.js';

/** A learning lock in our hands: shared files may be changed while it is current. */
export interface LearningLock extends AsyncDisposable {
  readonly ticket: LearningTicket;
  /** False once another took the lock or the ticket over, as after a long freeze. Asks the disk each time. */
  readonly isCurrent: () => boolean;
}

/** Where somebody stands in the line. */
export interface LearningLockPlace {
  /** The execution that holds the lock, where that is known. */
  readonly holder?: string | undefined;
  /** How many go before, at least 1. */
  readonly position: number;
}

/** Which lock, for whom. */
export interface TakeLearningLockOptions {
  readonly name: string;
  readonly executionId: string;
  /** Ends the wait with its reason; the ticket is given back. */
  readonly signal: AbortSignal;
  /** Where this one aborted too the ticket is kept: whoever goes on with the execution has its old place. */
  readonly closing?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
  /** Called before the wait begins, which waits for it, and again whenever the place changed. */
  readonly onWaiting?: ((place: LearningLockPlace) => void | Promise<void>) | undefined;
}

const LOOK_MS = 50;
const MAX_LOOK_MS = 1_000;

/**
 * Waits for a learning lock and takes it, across processes: first come, first served. Those who died are passed over, and
 * have their place again once somebody goes on with their execution.
 */
export async function takeLearningLock(
  store: Store,
  options: TakeLearningLockOptions,
): Promise<LearningLock> {
  const presence = await takePresence(store, options);
  const { name, executionId, signal, closing, clock = systemClock } = options;
  let ticket: LearningTicket | undefined;
  try {
    ticket = await drawTicket(store, { name, executionId, presence, clock });
    const lease = await waitForTurn(store, options, ticket);
    return await holdLock(store, { name, ticket, presence, lease });
  } catch (error) {
    if (ticket && signal.aborted && !closing?.aborted) {
      await removeTicket(store, { name, ticket, presence });
    }
    await presence.release();
    throw error;
  }
}

/** Only a process that froze and lost the execution can still be there, and it finds that out by itself. */
async function takePresence(
  store: Store,
  { executionId, signal, clock = systemClock }: TakeLearningLockOptions,
): Promise<Lease> {
  for (;;) {
    const { lease } = await store.acquire(lockKeys.presence(executionId), { signal });
    if (lease) return lease;
    await clock.sleep(LOOK_MS, signal);
  }
}

async function waitForTurn(
  store: Store,
  options: TakeLearningLockOptions,
  ticket: LearningTicket,
): Promise<Lease> {
  const { name, signal, clock = systemClock, onWaiting } = options;
  let told: LearningLockPlace | undefined;
  for (;;) {
    signal.throwIfAborted();
    const ahead = await listAhead(store, name, ticket, signal);
    const { lease } = ahead.length > 0 ? {} : await store.acquire(lockKeys.lease(name), { signal });
    if (lease) return lease;
    const place = {
      holder: (await findHolder(store, name))?.executionId,
      position: Math.max(1, ahead.length),
    };
    if (!isSamePlace(told, place)) {
      told = place;
      await onWaiting?.(place);
    }
    const pauseMs = Math.min(LOOK_MS * place.position, MAX_LOOK_MS);
    await waitForChange(store, { name, next: ahead.at(-1), pauseMs, clock, signal });
  }
}

function isSamePlace(told: LearningLockPlace | undefined, place: LearningLockPlace): boolean {
  return told?.position === place.position && told.holder === place.holder;
}

/** Those of a lower number who are alive, in order. */
async function listAhead(
  store: Store,
  name: string,
  { number }: LearningTicket,
  signal: AbortSignal,
): Promise<readonly LearningTicket[]> {
  const ahead: LearningTicket[] = [];
  for (const other of await listTicketNumbers(store, name)) {
    if (other >= number) break;
    const ticket = await findTicket(store, name, other);
    if (ticket && (await isPresent(store, ticket, signal))) ahead.push(ticket);
  }
  return ahead;
}

interface Change {
  readonly name: string;
  /** Whoever goes directly before us; nobody where only the lock itself is held. */
  readonly next: LearningTicket | undefined;
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Looks only at whoever goes directly before us, so that a long line costs each of them little. */
async function waitForChange(store: Store, change: Change): Promise<void> {
  const { pauseMs, clock, signal } = change;
  do {
    await clock.sleep(pauseMs, signal);
  } while (await isStillAhead(store, change));
}

async function isStillAhead(store: Store, { name, next, signal }: Change): Promise<boolean> {
  if (!next) return false;
  const now = await findTicket(store, name, next.number);
  return now?.executionId === next.executionId && (await isPresent(store, next, signal));
}

interface Held {
  readonly name: string;
  readonly ticket: LearningTicket;
  readonly presence: Lease;
  readonly lease: Lease;
}

async function holdLock(store: Store, held: Held): Promise<LearningLock> {
  const { name, ticket, presence, lease } = held;
  try {
    const seen = await store.observe(lockKeys.lease(name));
    if (seen.state !== 'free' && seen.owner) {
      const holder = encodeHolder({ ...ticket, ...seen.owner });
      await store.write(lockKeys.holder(name), holder, { lease });
    }
  } catch (error) {
    await lease.release();
    throw error;
  }
  let released: Promise<void> | undefined;
  return {
    ticket,
    isCurrent: () => lease.isCurrent() && presence.isCurrent(),
    [Symbol.asyncDispose]: () => {
      released ??= releaseLock(store, held);
      return released;
    },
  };
}

/** The ticket first: a crash in between leaves a lock that is free, and no place for an execution that needs none. */
async function releaseLock(store: Store, held: Held): Promise<void> {
  const { name, presence, lease } = held;
  try {
    await removeTicket(store, held);
    await unlessFenced(store.remove(lockKeys.holder(name), { lease }));
  } finally {
    await lease.release();
    await presence.release();
  }
}

async function removeTicket(
  store: Store,
  { name, ticket, presence }: Omit<Held, 'lease'>,
): Promise<void> {
  await unlessFenced(store.remove(lockKeys.ticket(name, ticket.number), { lease: presence }));
}

/** Whoever took over from us has what we would have taken away. */
async function unlessFenced(change: Promise<void>): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (!isTurnError(error) || error.kind !== 'session_busy') throw error;
  }
}
