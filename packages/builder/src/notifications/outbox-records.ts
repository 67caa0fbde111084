import { isTurnError, type Logger, StateUnusableError } from '@holdfast/agent';
import { keys } from '../persistence/keys.js';
import type { Store, StoreKey } from '../persistence/store.js';
import type { Lease } from '../persistence/store-lease.js';
import { UnknownNotificationError } from '../workflow/workflow-error.js';
import type { OutboxEntry } from './notification.js';
import { decodeOutboxEntry, encodeOutboxEntry } from './outbox-entry.wire.js';

/** The entries in the store. */
export interface OutboxRecords {
  /** `false` where an entry of that id already stands; nothing is changed then. */
  readonly create: (entry: OutboxEntry) => Promise<boolean>;
  readonly save: (entry: OutboxEntry, lease: Lease) => Promise<void>;
  readonly find: (notificationId: string) => Promise<OutboxEntry | undefined>;
  /** The entry, or `unknown_notification`. */
  readonly get: (notificationId: string) => Promise<OutboxEntry>;
  /** Every entry that can be read, one after the other; the others are logged. */
  readonly all: () => AsyncIterable<OutboxEntry>;
  readonly remove: (notificationId: string) => Promise<void>;
}

/** The entries that stand in `store`. */
export function createOutboxRecords(store: Store, logger: Logger | undefined): OutboxRecords {
  const find = (notificationId: string) => findAt(store, keys.notification(notificationId));
  return {
    create: (entry) =>
      store.write(keys.notification(entry.notificationId), encodeOutboxEntry(entry), {
        mode: 'create',
      }),
    save: async (entry, lease) => {
      await store.write(keys.notification(entry.notificationId), encodeOutboxEntry(entry), {
        lease,
      });
    },
    find,
    get: async (notificationId) => {
      const entry = await find(notificationId);
      if (!entry) throw new UnknownNotificationError(notificationId);
      return entry;
    },
    all: () => readAll(store, logger),
    remove: async (notificationId) => {
      await store.remove(keys.notification(notificationId));
    },
  };
}

async function findAt(store: Store, key: StoreKey): Promise<OutboxEntry | undefined> {
  const read = await store.read(key);
  switch (read.state) {
    case 'present':
      return decodeOutboxEntry(read.value, key.join('/'));
    case 'absent':
      return undefined;
    case 'damaged':
      throw new StateUnusableError(key.join('/'), 'damaged', `it was moved to ${read.movedTo}.`);
  }
}

async function* readAll(store: Store, logger: Logger | undefined): AsyncIterable<OutboxEntry> {
  for (const name of await store.list(keys.notifications())) {
    try {
      const entry = await findAt(store, [...keys.notifications(), name]);
      if (entry) yield entry;
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      logger?.warn({ record: name, error: String(error) }, 'notification unreadable');
    }
  }
}

/** What is wrong with one record, as opposed to the whole store. */
function isUnreadable(error: unknown): boolean {
  return (
    isTurnError(error) &&
    error.kind === 'state_unusable' &&
    (error.reason === 'damaged' || error.reason === 'newer_format')
  );
}
