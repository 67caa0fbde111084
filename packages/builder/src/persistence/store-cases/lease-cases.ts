import assert from 'node:assert/strict';
import type { StoreKey } from '../store.js';
import { soon } from './expectations.js';
import { take } from './fence-cases.js';
import type { StoreCase } from './store-subject.js';

const key: StoreKey = ['chats', 'one', 'lease'];

/** What a store promises of a lease. */
export const leaseCases: readonly StoreCase[] = [
  {
    title: 'gives a lease to one owner, and tells the others who it is without waiting',
    prove: async (subject) => {
      const [store, other] = [await subject.open(), await subject.open()];
      await using lease = await take(store, key);
      assert.equal(lease.isCurrent(), true);
      for (const asked of [store, other]) {
        const taken = await soon(asked.acquire(key), 'word of a held lease');
        assert.equal(taken.lease, undefined);
        assert.equal(taken.heldBy?.pid, process.pid);
        assert.ok(!Number.isNaN(Date.parse(taken.heldBy?.since ?? '')));
      }
      assert.equal(lease.isCurrent(), true);
    },
  },
  {
    title: 'gives a released lease to the next owner under a greater token',
    prove: async (subject) => {
      const [store, other] = [await subject.open(), await subject.open()];
      const first = await take(store, key);
      await first.release();
      assert.equal(first.isCurrent(), false);
      await using second = await take(other, key);
      assert.ok(second.token > first.token);
      assert.equal(second.isCurrent(), true);
      await first.release();
      assert.equal(second.isCurrent(), true);
    },
  },
  {
    title: 'gives a lease that many want at once to one of them',
    prove: async (subject) => {
      const stores = await Promise.all([1, 2, 3].map(() => subject.open()));
      for (let round = 0; round < 10; round += 1) {
        const tries = await Promise.all(
          [...stores, ...stores].map((store) => store.acquire(['lanes', `${round}`])),
        );
        const taken = tries.flatMap(({ lease }) => (lease ? [lease] : []));
        assert.equal(taken.length, 1);
        await Promise.all(taken.map((lease) => lease.release()));
      }
    },
  },
  {
    title: 'takes a lease over from a process that was killed',
    prove: async (subject) => {
      const store = await subject.open();
      await subject.takeAndDie(key);
      await using lease = await take(store, key);
      assert.ok(lease.token > 1);
      assert.equal(lease.isCurrent(), true);
    },
  },
  {
    title: 'looks who holds a lease, and takes nothing over',
    prove: async (subject) => {
      const [store, other] = [await subject.open(), await subject.open()];
      assert.deepEqual(await other.observe(key), { state: 'free' });
      const lease = await take(store, key);
      const held = await other.observe(key);
      assert.equal(held.state, 'held');
      assert.equal(held.state === 'held' ? held.owner?.pid : 0, process.pid);
      assert.equal(lease.isCurrent(), true);
      await lease.release();
      assert.deepEqual(await other.observe(key), { state: 'free' });
    },
  },
  {
    title: 'sees that the owner of a lease is dead',
    prove: async (subject) => {
      const store = await subject.open();
      await subject.takeAndDie(key);
      assert.deepEqual(await store.observe(key), { state: 'free' });
    },
  },
  {
    title: 'takes no lease for a caller that has given up',
    prove: async (subject) => {
      const store = await subject.open();
      const signal = AbortSignal.abort(new TypeError('given up'));
      await assert.rejects(store.acquire(key, { signal }), /given up/);
      assert.deepEqual(await store.observe(key), { state: 'free' });
    },
  },
];
