import { type Clock, isoInstant, type Lease } from '@holdfast/agent';
import { readExecutionId } from '../executions/execution-key.js';
import { keys } from '../persistence/keys.js';
import type { Store, StoreKey } from '../persistence/store.js';
import type { LeaseOwner } from '../persistence/store-lease.js';
import { decodeTicket, encodeTicket } from './learning-ticket.wire.js';

/** A place in the line for a learning lock. It belongs to the execution, and a restarted builder takes it again. */
export interface LearningTicket {
  readonly executionId: string;
  /** Lower ones go first. */
  readonly number: number;
  /** ISO 8601; when the execution came. */
  readonly since: string;
}

/** Who holds a learning lock. */
export interface LockHolder extends LearningTicket, LeaseOwner {}

/** Every key of one learning lock. */
export const lockKeys = {
  /** The lock itself: whoever has this lease may change the shared files. */
  lease: (name: string): StoreKey => keys.lock(name, 'lease'),
  /** Says for people which execution has it. */
  holder: (name: string): StoreKey => keys.lock(name, 'holder.json'),
  tickets: (name: string): StoreKey => keys.lock(name, 'tickets'),
  ticket: (name: string, number: number): StoreKey =>
    keys.lock(name, 'tickets', `${String(number).padStart(12, '0')}.json`),
  /** Held by whoever waits or works with the ticket of that execution; a ticket without it is passed over. */
  presence: (executionId: string): StoreKey =>
    executionId.startsWith(SERVICE_PREFIX)
      ? keys.lock(executionId, 'ticket')
      : [...keys.execution(readExecutionId(executionId)), 'learning-ticket'],
};

/** How the tickets of a service's own work begin: it is no execution, and has no folder of one. */
export const SERVICE_PREFIX = 'service-';

/** The numbers of all tickets, lowest first. */
export async function listTicketNumbers(store: Store, name: string): Promise<readonly number[]> {
  const names = await store.list(lockKeys.tickets(name));
  const numbers = names.flatMap((one) => /^(\d{12})\.json$/.exec(one)?.[1] ?? []);
  return numbers.map(Number);
}

/** The ticket of a number; `undefined` where none stands or it cannot be read. */
export async function findTicket(
  store: Store,
  name: string,
  number: number,
): Promise<LearningTicket | undefined> {
  const read = await store.read(lockKeys.ticket(name, number));
  return read.state === 'present' ? decodeTicket(read.value) : undefined;
}

/**
 * Whether somebody alive waits or works with the ticket. An owner in another container counts as alive until it gave no
 * sign for long; finding that out takes its lease for a moment.
 */
export async function isPresent(
  store: Store,
  { executionId }: LearningTicket,
  signal?: AbortSignal,
): Promise<boolean> {
  const place = lockKeys.presence(executionId);
  const { state } = await store.observe(place);
  if (state !== 'unknown') return state === 'held';
  const { lease } = await store.acquire(place, { signal });
  await lease?.release();
  return lease === undefined;
}

interface DrawTicket {
  readonly name: string;
  readonly executionId: string;
  /** The execution's presence: taken before, so that a ticket is never seen without it. */
  readonly presence: Lease;
  readonly clock: Clock;
}

/** The execution's ticket, the old one where it has one, otherwise one behind all others. Durable when it resolves. */
export async function drawTicket(
  store: Store,
  { name, executionId, presence, clock }: DrawTicket,
): Promise<LearningTicket> {
  for (;;) {
    const numbers = await listTicketNumbers(store, name);
    for (const number of numbers) {
      const known = await findTicket(store, name, number);
      if (known?.executionId === executionId) return known;
    }
    const number = (numbers.at(-1) ?? 0) + 1;
    const ticket: LearningTicket = { executionId, number, since: isoInstant(clock) };
    const isMine = await store.write(lockKeys.ticket(name, number), encodeTicket(ticket), {
      mode: 'create',
      lease: presence,
    });
    if (isMine) return ticket;
  }
}
