import { type Clock, systemClock } from '@holdfast/agent';
import type { Store } from '../persistence/store.js';
import {
  findTicket,
  isPresent,
  type LearningTicket,
  type LockHolder,
  listTicketNumbers,
  lockKeys,
} from './learning-ticket.js';
import { decodeHolder } from './learning-ticket.wire.js';

/** Who has a learning lock and who waits for it, as far as can be seen from here. */
export interface LearningLockState {
  readonly state: 'free' | 'held' | 'unknown';
  /** Absent for a moment after somebody took it. */
  readonly holder?: (LockHolder & { readonly ageMs: number }) | undefined;
  /** Everybody else in the line, in order. */
  readonly waiting: readonly WaitingTicket[];
}

/** One place in the line. */
export interface WaitingTicket extends LearningTicket {
  readonly ageMs: number;
  /** False where its process died: it is passed over until somebody goes on with the execution. */
  readonly isAlive: boolean;
}

/** Looks at a learning lock and takes nothing over. Ages are by the wall clock, for people. */
export async function inspectLearningLock(
  store: Store,
  name: string,
  clock: Clock = systemClock,
): Promise<LearningLockState> {
  const { state } = await store.observe(lockKeys.lease(name));
  const holder = await findHolder(store, name);
  const tickets = await listTickets(store, name);
  const others = tickets.filter(({ number }) => number !== holder?.number);
  const waiting = others.map(async (ticket): Promise<WaitingTicket> => {
    const seen = await store.observe(lockKeys.presence(ticket.executionId));
    return { ...ticket, ageMs: ageOf(ticket, clock), isAlive: seen.state !== 'free' };
  });
  return {
    state,
    holder: holder && { ...holder, ageMs: ageOf(holder, clock) },
    waiting: await Promise.all(waiting),
  };
}

/** Who holds the lock, where its lease is the record's: what a dead holder left says nothing. */
export async function findHolder(store: Store, name: string): Promise<LockHolder | undefined> {
  const read = await store.read(lockKeys.holder(name));
  const record = read.state === 'present' ? decodeHolder(read.value) : undefined;
  if (!record) return undefined;
  const seen = await store.observe(lockKeys.lease(name));
  if (seen.state === 'free') return undefined;
  const isSame = seen.owner?.pid === record.pid && seen.owner.since === record.since;
  return isSame ? record : undefined;
}

/**
 * Takes away the places of the dead whose execution owes nothing any more; they would never be given back. Returns
 * whose they were.
 */
export async function removeAbandonedTickets(
  store: Store,
  name: string,
  isOwed: (executionId: string) => Promise<boolean>,
): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const ticket of await listTickets(store, name)) {
    if ((await isPresent(store, ticket)) || (await isOwed(ticket.executionId))) continue;
    const { lease } = await store.acquire(lockKeys.presence(ticket.executionId));
    // Somebody came back for it just now.
    if (!lease) continue;
    await using _presence = lease;
    await store.remove(lockKeys.ticket(name, ticket.number), { lease });
    removed.push(ticket.executionId);
  }
  return removed;
}

async function listTickets(store: Store, name: string): Promise<readonly LearningTicket[]> {
  const numbers = await listTicketNumbers(store, name);
  const found = await Promise.all(numbers.map((number) => findTicket(store, name, number)));
  return found.filter((ticket) => ticket !== undefined);
}

function ageOf({ since }: { readonly since: string }, clock: Clock): number {
  return Math.max(0, clock.now() - Date.parse(since));
}
