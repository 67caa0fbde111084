import { randomUUID } from 'node:crypto';
import { type Clock, isoInstant, type Logger, systemClock } from '@holdfast/agent';
import type { SessionTurns } from '../executions/session-turns.js';
import { keys } from '../persistence/keys.js';
import type { Store } from '../persistence/store.js';
import type { Lease } from '../persistence/store-lease.js';
import { type DeliveryContext, deliverEntry } from './deliver-entry.js';
import {
  type DeliveryState,
  type Notification,
  type NotificationHandler,
  type OutboxEntry,
  type OutboxState,
  outboxStateOf,
} from './notification.js';
import { createOutboxRecords, type OutboxRecords } from './outbox-records.js';
import { nextDueAt } from './settle-try.js';

/** What an outbox is made of. */
export interface OutboxOptions {
  readonly store: Store;
  readonly sessions: SessionTurns;
  /** The second target of every notification; none when absent. */
  readonly onNotification?: NotificationHandler | undefined;
  /** `whenBusy`: wait for the turn that runs in the target's session, when absent, or put the text into it. */
  readonly policy?: { readonly whenBusy?: 'wait' | 'steer' | undefined } | undefined;
  readonly clock?: Clock | undefined;
  readonly logger?: Logger | undefined;
}

/** What is owed to sessions and handlers, on disk until each of them has it or was given up. */
export interface Outbox {
  /** On disk when it resolves. The same id again changes nothing and gives what is there. */
  readonly put: (notification: Notification) => Promise<OutboxEntry>;
  /**
   * One try of each target that is pending and due. Waits while another process delivers the same entry. A try that fails
   * is in the entry, not a rejection.
   */
  readonly deliver: (notificationId: string, signal: AbortSignal) => Promise<OutboxEntry>;
  /** When something of the entry is to be tried next; `undefined` when nothing is pending. */
  readonly nextDueAt: (entry: OutboxEntry) => string | undefined;
  /** Every entry, or those in one state, oldest first. */
  readonly list: (filter?: {
    readonly state?: OutboxState | undefined;
  }) => Promise<readonly OutboxEntry[]>;
  /** The entry, or `unknown_notification`. */
  readonly get: (notificationId: string) => Promise<OutboxEntry>;
  /** Makes a dead letter pending again and due at once, its attempts forgotten; pending targets get due too. */
  readonly retry: (notificationId: string, signal?: AbortSignal) => Promise<OutboxEntry>;
  /** Takes away what was delivered more than 30 days ago, and tells how many that were. */
  readonly prune: (signal?: AbortSignal) => Promise<number>;
}

const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
const HELD_POLL_MS = 200;

/** Keeps the notifications of one data directory. Several builders may share it: a lease per entry decides who delivers. */
export function createOutbox(options: OutboxOptions): Outbox {
  const { store, clock = systemClock, policy, onNotification, sessions, logger } = options;
  const records = createOutboxRecords(store, logger);
  const context: OutboxContext = {
    store,
    records,
    delivery: { sessions, onNotification, whenBusy: policy?.whenBusy ?? 'wait', clock },
  };
  const hasHandler = onNotification !== undefined;
  return {
    put: (notification) => putEntry(records, newEntry(notification, hasHandler, clock)),
    deliver: (notificationId, signal) => deliver(context, notificationId, signal),
    nextDueAt: (entry) => nextDueAt(entry, clock.now()),
    list: (filter) => listEntries(records, filter?.state),
    get: records.get,
    retry: (notificationId, signal = new AbortController().signal) =>
      withLease(context, { notificationId, signal }, (lease) =>
        makeDue(context, notificationId, lease),
      ),
    prune: (signal) => prune(records, clock, signal),
  };
}

interface OutboxContext {
  readonly store: Store;
  readonly records: OutboxRecords;
  readonly delivery: DeliveryContext;
}

function newEntry(notification: Notification, hasHandler: boolean, clock: Clock): OutboxEntry {
  return {
    ...notification,
    turnId: randomUUID(),
    session: { state: notification.target ? 'pending' : 'none', attempts: 0 },
    handler: { state: hasHandler ? 'pending' : 'none', attempts: 0 },
    updatedAt: isoInstant(clock),
  };
}

async function putEntry(records: OutboxRecords, entry: OutboxEntry): Promise<OutboxEntry> {
  return (await records.create(entry)) ? entry : records.get(entry.notificationId);
}

async function deliver(
  context: OutboxContext,
  notificationId: string,
  signal: AbortSignal,
): Promise<OutboxEntry> {
  const { records, delivery } = context;
  const known = await records.get(notificationId);
  if (!isDue(known, delivery.clock)) return known;
  return withLease(context, { notificationId, signal }, async (lease) => {
    // Another process may have delivered it while we waited.
    const entry = await records.get(notificationId);
    const save = (next: OutboxEntry) => records.save(next, lease);
    return deliverEntry({ ...delivery, entry, save, signal });
  });
}

function isDue(entry: OutboxEntry, clock: Clock): boolean {
  const nowMs = clock.now();
  const due = nextDueAt(entry, nowMs);
  return due !== undefined && Date.parse(due) <= nowMs;
}

async function makeDue(
  { records, delivery }: OutboxContext,
  notificationId: string,
  lease: Lease,
): Promise<OutboxEntry> {
  const entry = await records.get(notificationId);
  const next = {
    ...entry,
    session: dueAgain(entry.session),
    handler: dueAgain(entry.handler),
    updatedAt: isoInstant(delivery.clock),
  };
  await records.save(next, lease);
  return next;
}

function dueAgain(state: DeliveryState): DeliveryState {
  switch (state.state) {
    case 'dead_letter':
      return { state: 'pending', attempts: 0 };
    case 'pending':
      return { state: 'pending', attempts: state.attempts };
    default:
      return state;
  }
}

async function withLease<Value>(
  { store, delivery }: OutboxContext,
  { notificationId, signal }: { readonly notificationId: string; readonly signal: AbortSignal },
  act: (lease: Lease) => Promise<Value>,
): Promise<Value> {
  const key = keys.notificationLease(notificationId);
  for (;;) {
    const { lease } = await store.acquire(key, { signal });
    if (!lease) {
      await delivery.clock.sleep(HELD_POLL_MS, signal);
      continue;
    }
    try {
      return await act(lease);
    } finally {
      await lease.release();
    }
  }
}

async function listEntries(
  records: OutboxRecords,
  state: OutboxState | undefined,
): Promise<readonly OutboxEntry[]> {
  const found: OutboxEntry[] = [];
  for await (const entry of records.all()) {
    if (state === undefined || outboxStateOf(entry) === state) found.push(entry);
  }
  return found.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

async function prune(
  records: OutboxRecords,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<number> {
  let pruned = 0;
  for await (const entry of records.all()) {
    signal?.throwIfAborted();
    const ageMs = clock.now() - Date.parse(entry.updatedAt);
    if (outboxStateOf(entry) !== 'delivered' || !(ageMs > KEPT_MS)) continue;
    await records.remove(entry.notificationId);
    pruned += 1;
  }
  return pruned;
}
