import assert from 'node:assert/strict';
import type { Store, StoreKey } from '../store.js';
import { collect, refuses } from './expectations.js';
import type { StoreCase } from './store-subject.js';

const noSegments = [
  '',
  '.',
  '..',
  '...',
  'a/b',
  '../a',
  'a\\b',
  'a b',
  'ä',
  'a\0',
  'x'.repeat(251),
];

type Act = (store: Store, key: StoreKey) => Promise<unknown>;

const acts: Readonly<Record<string, Act>> = {
  read: (store, key) => store.read(key),
  write: (store, key) => store.write(key, 1),
  remove: (store, key) => store.remove(key),
  setAside: (store, key) => store.setAside(key),
  list: (store, key) => store.list(key),
  // A store need not have it.
  readTexts: async (store, key) => await (store.readTexts?.([['a'], key]) ?? store.read(key)),
  append: (store, key) => store.append(key, 1),
  readLog: (store, key) => collect(store.readLog(key)),
  acquire: (store, key) => store.acquire(key),
  observe: (store, key) => store.observe(key),
};

/** What a store promises of keys. */
export const keyCases: readonly StoreCase[] = [
  ...Object.entries(acts).map(([name, act]) => ({
    title: `${name} refuses every segment that is no plain name, and names it`,
    prove: async (subject: { readonly open: () => Promise<Store> }) => {
      const store = await subject.open();
      for (const segment of noSegments) {
        const shown = JSON.stringify(segment).slice(0, 200);
        await refuses(() => act(store, ['a', segment]), shown);
        await refuses(() => act(store, [segment, 'a']), shown);
      }
      await refuses(
        () =>
          act(
            store,
            Array.from({ length: 13 }, () => 'a'),
          ),
        '12',
      );
      if (name !== 'list') await refuses(() => act(store, []), 'segment');
    },
  })),
  {
    title: 'takes the longest names and the deepest keys, and keeps similar ones apart',
    prove: async (subject) => {
      const store = await subject.open();
      const long = `A.z_0~-${'x'.repeat(243)}`;
      const deep = Array.from({ length: 12 }, (_, index) => `${index}`);
      const keys = [[long], [long.slice(0, -1)], ['.a'], ['a.'], ['a'], deep];
      for (const [index, key] of keys.entries()) await store.write(key, index);
      for (const [index, key] of keys.entries()) {
        assert.deepEqual(await store.read(key), { state: 'present', value: index });
      }
      await store.setAside([long]);
      assert.equal((await store.read([long])).state, 'damaged');
      assert.equal((await store.read([long.slice(0, -1)])).state, 'present');
      assert.deepEqual(await store.list([]), ['.a', '0', long.slice(0, -1), 'a', 'a.'].sort());
    },
  },
];
