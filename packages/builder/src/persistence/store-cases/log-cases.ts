import assert from 'node:assert/strict';
import type { StoreKey } from '../store.js';
import { collect, soon } from './expectations.js';
import type { StoreCase } from './store-subject.js';

const log: StoreKey = ['chats', 'one', 'events.jsonl'];

/** What a store promises of a log. */
export const logCases: readonly StoreCase[] = [
  {
    title: 'keeps a log in the order of the calls of one process',
    prove: async (subject) => {
      const store = await subject.open();
      const entries = Array.from({ length: 200 }, (_, n) => ({
        n,
        pad: 'x'.repeat((n % 7) * 900),
      }));
      await Promise.all(
        entries.map((entry, n) => store.append(log, entry, { sync: n % 20 === 0 })),
      );
      assert.deepEqual(await collect((await subject.open()).readLog(log)), entries);
    },
  },
  {
    title: 'finds no entry where there is no log',
    prove: async (subject) => {
      assert.deepEqual(await collect((await subject.open()).readLog(log)), []);
    },
  },
  {
    title: 'passes over as many entries as it is told',
    prove: async (subject) => {
      const store = await subject.open();
      for (const entry of ['a', 'b', 'c']) await store.append(log, entry);
      assert.deepEqual(await collect(store.readLog(log, { from: 2 })), ['c']);
      assert.deepEqual(await collect(store.readLog(log, { from: 3 })), []);
      assert.deepEqual(await collect(store.readLog(log, { from: 9 })), []);
    },
  },
  {
    title: 'keeps the entries of many writers whole, each once',
    prove: async (subject) => {
      const stores = await Promise.all([1, 2, 3].map(() => subject.open()));
      const numbers = Array.from({ length: 90 }, (_, n) => n);
      await Promise.all(
        numbers.map((n) => stores[n % 3]?.append(log, [n, 'y'.repeat(n * 30)], { sync: false })),
      );
      const found = await collect((await subject.open()).readLog(log));
      const read = found.map((entry) => (Array.isArray(entry) ? Number(entry[0]) : -1));
      assert.deepEqual(
        read.sort((one, other) => one - other),
        numbers,
      );
    },
  },
  {
    title: 'leaves out half an entry that a crash left, and goes on after it',
    prove: async (subject) => {
      const store = await subject.open();
      await store.append(log, 'before');
      await subject.tear(log);
      assert.deepEqual(await collect((await subject.open()).readLog(log)), ['before']);
      await store.append(log, 'after');
      assert.deepEqual(await collect(store.readLog(log)), ['before', 'after']);
      assert.deepEqual(await collect(store.readLog(log, { from: 1 })), ['after']);
    },
  },
  {
    title: 'follows a log over what others append, until it is told to stop',
    prove: async (subject) => {
      const [reader, writer] = [await subject.open(), await subject.open()];
      const stop = new AbortController();
      for (const entry of [0, 1, 2]) await writer.append(log, entry);
      const following = reader
        .readLog(log, { from: 1, follow: stop.signal })
        [Symbol.asyncIterator]();
      const next = () => soon(following.next(), 'an entry that was appended');
      assert.deepEqual(await next(), { done: false, value: 1 });
      assert.deepEqual(await next(), { done: false, value: 2 });
      // Again and again: who reads to the end just when something comes has not followed.
      for (const entry of [3, 4, 5, 6]) {
        const waiting = next();
        await writer.append(log, entry);
        assert.deepEqual(await waiting, { done: false, value: entry });
      }
      const last = next();
      stop.abort();
      assert.equal((await last).done, true);
    },
  },
  {
    title: 'follows a log that is begun later',
    prove: async (subject) => {
      const [reader, writer] = [await subject.open(), await subject.open()];
      const stop = new AbortController();
      const following = reader.readLog(log, { follow: stop.signal })[Symbol.asyncIterator]();
      const first = soon(following.next(), 'the first entry');
      await writer.append(log, 'first');
      assert.deepEqual(await first, { done: false, value: 'first' });
      stop.abort();
      assert.equal((await soon(following.next(), 'the end')).done, true);
    },
  },
  {
    title: 'sets a log aside and begins another one',
    prove: async (subject) => {
      const store = await subject.open();
      await store.append(log, 'old');
      await store.setAside(log);
      assert.deepEqual(await collect(store.readLog(log)), []);
      await store.append(log, 'new');
      assert.deepEqual(await collect(store.readLog(log)), ['new']);
    },
  },
];
