import { SessionBusyError } from '@holdfast/agent';
import type { JsonValue, Store, StoreKey } from '../../persistence/store.js';
import type { Lease } from '../../persistence/store-lease.js';

/** A disk in memory: what it holds outlives the processes that write to it. */
export class MemoryDisk {
  readonly records = new Map<string, string>();
  readonly logs = new Map<string, string[]>();
  readonly leases = new Map<string, { token: number; held: boolean }>();

  /** Every process that wrote to it died. */
  dropLeases(): void {
    for (const lease of this.leases.values()) lease.held = false;
  }

  /** The disk as it stands now, in another machine. */
  copy(): MemoryDisk {
    const disk = new MemoryDisk();
    for (const [key, value] of this.records) disk.records.set(key, value);
    for (const [key, value] of this.logs) disk.logs.set(key, [...value]);
    for (const [key, { token }] of this.leases) disk.leases.set(key, { token, held: false });
    return disk;
  }
}

/** Where a process dies: at its n-th durable write, before or after that write is on disk. */
export interface Death {
  readonly at: number;
  readonly when: 'before' | 'after';
}

class DiedError extends Error {}

/** One process's store on a disk in memory. */
export class MemoryStore implements Store {
  writes = 0;
  isDead = false;

  constructor(
    readonly disk: MemoryDisk,
    readonly death?: Death,
  ) {}

  readonly read: Store['read'] = async (key) => {
    this.#check(undefined);
    const text = this.disk.records.get(nameOf(key));
    return text === undefined ? { state: 'absent' } : { state: 'present', value: JSON.parse(text) };
  };

  readonly write: Store['write'] = async (key, value, { lease, mode } = {}) => {
    const name = nameOf(key);
    this.#check(lease);
    if (mode === 'create' && this.disk.records.has(name)) return false;
    this.#change(() => this.disk.records.set(name, JSON.stringify(value)));
    return true;
  };

  readonly remove: Store['remove'] = async (key, { lease } = {}) => {
    this.#check(lease);
    this.#change(() => this.disk.records.delete(nameOf(key)));
  };

  readonly setAside: Store['setAside'] = async (key) => `${nameOf(key)}.damaged-1`;

  readonly list: Store['list'] = async (prefix) => {
    const start = prefix.length === 0 ? '' : `${nameOf(prefix)}/`;
    const names = [...this.disk.records.keys(), ...this.disk.logs.keys()];
    const below = names.filter((name) => name.startsWith(start));
    return [...new Set(below.map((name) => name.slice(start.length).split('/')[0] ?? ''))].sort();
  };

  readonly append: Store['append'] = async (log, entry, { lease } = {}) => {
    this.#check(lease);
    const lines = this.disk.logs.get(nameOf(log)) ?? [];
    this.disk.logs.set(nameOf(log), lines);
    this.#change(() => lines.push(JSON.stringify(entry)));
  };

  readonly readLog: Store['readLog'] = (log, { from = 0 } = {}) => {
    const lines = this.disk.logs.get(nameOf(log)) ?? [];
    return (async function* () {
      for (const line of lines.slice(from)) yield JSON.parse(line) as JsonValue;
    })();
  };

  readonly acquire: Store['acquire'] = async (key, { signal } = {}) => {
    this.#check(undefined);
    signal?.throwIfAborted();
    const name = nameOf(key);
    const known = this.disk.leases.get(name) ?? { token: 0, held: false };
    if (known.held) return { heldBy: OWNER };
    const token = known.token + 1;
    this.disk.leases.set(name, { token, held: true });
    const isCurrent = () => this.disk.leases.get(name)?.token === token && !this.isDead;
    const release = async () => {
      if (isCurrent()) this.disk.leases.set(name, { token, held: false });
    };
    return { lease: { token, isCurrent, release, [Symbol.asyncDispose]: release } };
  };

  readonly observe: Store['observe'] = async (key) =>
    this.disk.leases.get(nameOf(key))?.held ? { state: 'held', owner: OWNER } : { state: 'free' };

  readonly [Symbol.asyncDispose] = async () => {};

  #check(lease: Lease | undefined): void {
    if (this.isDead) throw new DiedError();
    if (lease && !lease.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
  }

  #change(change: () => void): void {
    this.writes += 1;
    const isLast = this.writes === this.death?.at;
    if (!isLast) return change();
    if (this.death?.when === 'after') change();
    this.isDead = true;
    throw new DiedError();
  }
}

const OWNER = { pid: 1, hostId: 'memory', since: '2026-01-01T00:00:00.000Z' };

function nameOf(key: StoreKey): string {
  return key.join('/');
}
