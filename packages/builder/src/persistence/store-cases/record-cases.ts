import assert from 'node:assert/strict';
import type { JsonValue, StoreKey } from '../store.js';
import { fenceCases } from './fence-cases.js';
import { keyCases } from './key-cases.js';
import type { StoreCase } from './store-subject.js';

const key: StoreKey = ['runs', '1', 'main', 'logs', 'draft', 'continuation_state.json'];

const values: readonly JsonValue[] = [
  null,
  false,
  0,
  -1.5e-7,
  '',
  'häßlich 漢字 🦔 \u2028 \0 "\\',
  'long '.repeat(100_000),
  [],
  {},
  [[], [null, { a: [1, '2'] }]],
  { snake_case: { 'any key': true, '': 'empty', constructor: 1 } },
];

/** What a store promises of one record. */
export const recordCases: readonly StoreCase[] = [
  {
    title: 'finds nothing where nothing was written',
    prove: async (subject) => {
      const store = await subject.open();
      assert.deepEqual(await store.read(key), { state: 'absent' });
      assert.deepEqual(await store.list(key), []);
    },
  },
  {
    title: 'gives a record back as it was written, to every store of the same data',
    prove: async (subject) => {
      const store = await subject.open();
      const other = await subject.open();
      for (const value of values) {
        assert.equal(await store.write(key, value), true);
        assert.deepEqual(await other.read(key), { state: 'present', value });
      }
      await store.write(key, { kept: 1, left: undefined });
      assert.deepEqual(await other.read(key), { state: 'present', value: { kept: 1 } });
    },
  },
  {
    title: 'replaces a record in one step, so that a reader sees the old or the new one',
    prove: async (subject) => {
      const store = await subject.open();
      const reader = await subject.open();
      const texts = ['one '.repeat(50_000), 'two '.repeat(10)];
      await store.write(key, texts[0] ?? '');
      for (let round = 0; round < 20; round += 1) {
        let isWriting = true;
        const written = store.write(key, texts[round % 2] ?? '').finally(() => {
          isWriting = false;
        });
        // Where a proof ends before it, nobody else hears of it.
        written.catch(() => {});
        while (isWriting) {
          const found = await reader.read(key);
          assert.ok(found.state === 'present' && texts.includes(String(found.value)));
        }
        await written;
      }
    },
  },
  {
    title: 'lets the last of the writes of one process stand',
    prove: async (subject) => {
      const store = await subject.open();
      const numbers = Array.from({ length: 30 }, (_, index) => index);
      await Promise.all(numbers.map((number) => store.write(key, number)));
      assert.deepEqual(await store.read(key), { state: 'present', value: 29 });
    },
  },
  {
    title: 'creates a record for one of many writers, and changes nothing for the others',
    prove: async (subject) => {
      const stores = await Promise.all([1, 2, 3, 4].map(() => subject.open()));
      for (let round = 0; round < 5; round += 1) {
        const place = ['jobs', `${round}.json`];
        const tries = stores.flatMap((store, writer) =>
          [0, 1, 2].map(async (attempt) => {
            const value = writer * 10 + attempt;
            return { value, won: await store.write(place, value, { mode: 'create' }) };
          }),
        );
        const winners = (await Promise.all(tries)).filter(({ won }) => won);
        assert.equal(winners.length, 1);
        const [winner] = winners;
        const read = await stores[0]?.read(place);
        assert.deepEqual(read, { state: 'present', value: winner?.value });
      }
    },
  },
  {
    title: 'takes a record away, and changes nothing where there is none',
    prove: async (subject) => {
      const store = await subject.open();
      await store.remove(key);
      await store.write(key, 1);
      await store.write([...key.slice(0, -1), 'other.json'], 2);
      await store.remove(key);
      assert.deepEqual(await store.read(key), { state: 'absent' });
      assert.deepEqual(await store.list(key.slice(0, -1)), ['other.json']);
      assert.equal(await store.write(key, 3, { mode: 'create' }), true);
    },
  },
  {
    title: 'sets a damaged record aside, and says so until it is written anew',
    prove: async (subject) => {
      const store = await subject.open();
      await store.write(key, 1);
      await subject.damage(key);
      const found = await store.read(key);
      assert.equal(found.state, 'damaged');
      assert.ok(found.state === 'damaged' && found.movedTo !== '');
      assert.equal((await (await subject.open()).read(key)).state, 'damaged');
      assert.deepEqual(await store.list(key.slice(0, -1)), []);
      assert.equal(await store.write(key, 2, { mode: 'create' }), true);
      assert.deepEqual(await store.read(key), { state: 'present', value: 2 });
    },
  },
  {
    title: 'sets aside what is asked, each time under a name that no earlier one has',
    prove: async (subject) => {
      const store = await subject.open();
      await store.write(key, 'first');
      const first = await store.setAside(key);
      assert.equal((await store.read(key)).state, 'damaged');
      await store.write(key, 'second');
      const second = await store.setAside(key);
      assert.notEqual(first, second);
      assert.deepEqual(await store.list(key.slice(0, -1)), []);
    },
  },
  {
    title: 'lists the names directly below, sorted',
    prove: async (subject) => {
      const store = await subject.open();
      for (const name of ['b', 'a~1', 'B', '10', '9', 'a']) {
        await store.write(['folder', name, 'deep', 'record.json'], 1);
      }
      await store.append(['folder', 'log.jsonl'], 1);
      await store.write(['folder', 'c.json'], 1);
      const names = ['10', '9', 'B', 'a', 'a~1', 'b', 'c.json', 'log.jsonl'];
      assert.deepEqual(await store.list(['folder']), names);
      assert.deepEqual(await store.list([]), ['folder']);
      assert.deepEqual(await store.list(['nothing', 'here']), []);
    },
  },
  ...keyCases,
  ...fenceCases,
];
