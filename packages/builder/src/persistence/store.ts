import type { Lease, LeaseOwner } from './store-lease.js';

/** What a record holds: anything JSON can say. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/**
 * The place of a record, a log or a lease: 1 to 12 segments of 1 to 250 of `A-Z a-z 0-9 . _ ~ -`, none of dots alone. The file
 * store makes each a folder and the last one a file, so that `['runs', '1', 'main', 'logs', 'draft',
 * 'continuation_state.json']` stands exactly there.
 */
export type StoreKey = readonly string[];

/** What stands at a key. What cannot be read is an error, never `absent`. */
export type StoreRead =
  | { readonly state: 'present'; readonly value: unknown }
  | { readonly state: 'absent' }
  /** It was no JSON, or too large; it was set aside under another name. Stays so until it is written anew. */
  | { readonly state: 'damaged'; readonly movedTo: string };

/** How a record or a log entry is written. */
export interface StoreWriteOptions {
  /** Writes only while this lease is the newest of its key; otherwise `session_busy`, and nothing is written. */
  readonly lease?: Lease | undefined;
  /** `create` fails with `false` where a record already stands; `replace` when absent. */
  readonly mode?: 'create' | 'replace' | undefined;
}

/** How a log is read. */
export interface StoreLogOptions {
  /** How many entries to pass over; 0 when absent. */
  readonly from?: number | undefined;
  /** Waits for further entries until it aborts; without it, reading ends with what is there. */
  readonly follow?: AbortSignal | undefined;
}

/**
 * Where everything durable of a builder stands: JSON records, append-only logs and leases by key. Every write is atomic and durable
 * when it resolves. The default is our own files; another implementation must pass `testStore`.
 */
export interface Store extends AsyncDisposable {
  readonly read: (key: StoreKey) => Promise<StoreRead>;
  /** Replaces the record in one step. `false` only in `create` mode, where one already stood. */
  readonly write: (
    key: StoreKey,
    value: JsonValue,
    options?: StoreWriteOptions,
  ) => Promise<boolean>;
  /** Takes the record away, fenced like a write; one that is not there changes nothing. */
  readonly remove: (key: StoreKey, options?: Pick<StoreWriteOptions, 'lease'>) => Promise<void>;
  /** Gives what cannot be used another name, which no earlier one has, and returns that name. */
  readonly setAside: (key: StoreKey) => Promise<string>;
  /** The names directly below, sorted, without those set aside; none when nothing is there. */
  readonly list: (prefix: StoreKey) => Promise<readonly string[]>;
  /**
   * For who looks through many records of which most need no more than a look: the text of each, as it was written, or
   * `undefined` where something else stands there, nothing, or a large record; `read` says what. A store need not have it.
   */
  readonly readTexts?: (keys: readonly StoreKey[]) => Promise<readonly (string | undefined)[]>;
  /** Appends one entry, in the order of the calls of this process. Not durable at once where `sync` is false. */
  readonly append: (
    log: StoreKey,
    entry: JsonValue,
    options?: { readonly lease?: Lease | undefined; readonly sync?: boolean | undefined },
  ) => Promise<void>;
  /** The whole entries in order; half an entry that a crash left is not there. */
  readonly readLog: (log: StoreKey, options?: StoreLogOptions) => AsyncIterable<unknown>;
  /** Takes the lease when it is free or its owner is proven dead. Does not wait for a living owner. */
  readonly acquire: (
    key: StoreKey,
    options?: { readonly signal?: AbortSignal | undefined },
  ) => Promise<StoreLease>;
  /** Looks who holds a lease, and takes nothing over. */
  readonly observe: (key: StoreKey) => Promise<StoreLeaseState>;
}

/** A lease, or who holds it. */
export type StoreLease =
  | { readonly lease: Lease; readonly heldBy?: undefined }
  | { readonly lease?: undefined; readonly heldBy: LeaseOwner };

/** Who holds a lease, as far as can be seen from here. */
export type StoreLeaseState =
  | { readonly state: 'free' }
  | { readonly state: 'held' | 'unknown'; readonly owner?: LeaseOwner | undefined };
