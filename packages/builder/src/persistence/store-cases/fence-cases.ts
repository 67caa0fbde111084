import assert from 'node:assert/strict';
import type { Store, StoreKey } from '../store.js';
import type { Lease } from '../store-lease.js';
import { collect, rejectsAsBusy } from './expectations.js';
import type { StoreCase } from './store-subject.js';

const leaseKey: StoreKey = ['chats', 'one', 'lease'];
const record: StoreKey = ['chats', 'one', 'record.json'];
const log: StoreKey = ['chats', 'one', 'events.jsonl'];

/** Takes a lease that must be free. */
export async function take(store: Store, key: StoreKey = leaseKey): Promise<Lease> {
  const { lease } = await store.acquire(key);
  assert.ok(lease, 'the lease is free');
  return lease;
}

/** What a store promises of writes with a lease. */
export const fenceCases: readonly StoreCase[] = [
  {
    title: 'writes with a lease that is current',
    prove: async (subject) => {
      const store = await subject.open();
      await using lease = await take(store);
      assert.equal(await store.write(record, 1, { lease, mode: 'create' }), true);
      assert.equal(await store.write(record, 2, { lease }), true);
      await store.append(log, 'a', { lease });
      assert.deepEqual(await store.read(record), { state: 'present', value: 2 });
      await store.remove(record, { lease });
      assert.deepEqual(await store.read(record), { state: 'absent' });
      assert.deepEqual(await collect(store.readLog(log)), ['a']);
    },
  },
  {
    title: 'writes nothing with a lease that is no longer current, and says so',
    prove: async (subject) => {
      const store = await subject.open();
      const lease = await take(store);
      await store.write(record, 'kept', { lease });
      await lease.release();
      await using _next = await take(await subject.open());
      await rejectsAsBusy(store.write(record, 'late', { lease }));
      await rejectsAsBusy(store.write(['chats', 'one', 'new'], 1, { lease, mode: 'create' }));
      await rejectsAsBusy(store.append(log, 'late', { lease }));
      await rejectsAsBusy(store.remove(record, { lease }));
      assert.deepEqual(await store.read(record), { state: 'present', value: 'kept' });
      assert.deepEqual(await store.list(['chats', 'one']), ['lease', 'record.json']);
    },
  },
  {
    title: 'tells of each write whether it was made, while its lease is given back',
    prove: async (subject) => {
      const store = await subject.open();
      const lease = await take(store);
      const writes = Array.from({ length: 50 }, (_, index) => store.append(log, index, { lease }));
      const released = lease.release();
      const outcomes = await Promise.allSettled(writes);
      await released;
      const written = outcomes.flatMap(({ status }, index) =>
        status === 'fulfilled' ? [index] : [],
      );
      assert.deepEqual(await collect(store.readLog(log)), written);
      await store.append(log, 'next');
      assert.deepEqual(await collect(store.readLog(log)), [...written, 'next']);
    },
  },
];
