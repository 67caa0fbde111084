import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFileSubject } from './__fixtures__/file-subject.js';
import { bundleStore, type StoreProcess } from './__fixtures__/store-process.js';
import type { Store, StoreKey } from './store.js';
import { storeCases } from './test-store.js';

let other: StoreProcess;

beforeAll(async () => {
  other = await bundleStore();
}, 120_000);

afterAll(() => other[Symbol.asyncDispose]());

type Fault = (store: Store) => Partial<Store>;

const later = () => new Promise((resolve) => setImmediate(resolve));
const cut = (key: StoreKey) => key.map((segment) => segment.slice(0, 100));
const plain = (key: StoreKey) => key.slice(0, 12).map((name) => name.replace(/[^a-z]/g, '') || 'a');
let calls = 0;

/** One store for each promise that breaks it, and nothing else. */
const faults: Readonly<Record<string, Fault>> = {
  'finds nothing where nothing was written': () => ({
    read: async () => ({ state: 'present', value: {} }),
  }),
  'gives a record back as it was written, to every store of the same data': (store) => ({
    write: (key, value, options) => store.write(key, value === '' ? null : value, options),
  }),
  'replaces a record in one step, so that a reader sees the old or the new one': (store) => ({
    write: async (key, value, options) => {
      await store.write(key, String(value).slice(0, 10), options);
      return store.write(key, value, options);
    },
  }),
  'lets the last of the writes of one process stand': (store) => ({
    write: async (key, value, options) => {
      if (value === 0) for (let round = 0; round < 10; round += 1) await store.read(key);
      return store.write(key, value === 29 ? 28 : value, options);
    },
  }),
  'creates a record for one of many writers, and changes nothing for the others': (store) => ({
    write: async (key, value) => {
      if ((await store.read(key)).state === 'present') return false;
      return store.write(key, value);
    },
  }),
  'takes a record away, and changes nothing where there is none': () => ({
    remove: async () => {},
  }),
  'sets a damaged record aside, and says so until it is written anew': (store) => ({
    read: async (key) => {
      const found = await store.read(key);
      return found.state === 'damaged' ? { state: 'absent' } : found;
    },
  }),
  'sets aside what is asked, each time under a name that no earlier one has': (store) => ({
    setAside: async (key) => {
      await store.setAside(key);
      return 'aside';
    },
  }),
  'lists the names directly below, sorted': (store) => ({
    list: async (prefix) => [...(await store.list(prefix))].reverse(),
  }),
  'read refuses every segment that is no plain name, and names it': (store) => ({
    read: (key) => store.read(plain(key)),
  }),
  'write refuses every segment that is no plain name, and names it': (store) => ({
    write: (key, value) => store.write(plain(key), value),
  }),
  'remove refuses every segment that is no plain name, and names it': (store) => ({
    remove: (key) => store.remove(plain(key)),
  }),
  'setAside refuses every segment that is no plain name, and names it': () => ({
    setAside: async () => 'aside',
  }),
  'list refuses every segment that is no plain name, and names it': () => ({
    list: async () => [],
  }),
  'readTexts refuses every segment that is no plain name, and names it': (store) => ({
    readTexts: (places) =>
      Promise.resolve(places.map(plain)).then((all) => store.readTexts?.(all) ?? []),
  }),
  'gives the texts of many records in the order of their keys, or leaves them to read': (
    store,
  ) => ({
    readTexts: async (places) => [...((await store.readTexts?.(places)) ?? [])].reverse(),
  }),
  'gives no text of what read does not find': () => ({
    readTexts: async (places) => places.map(() => '"whole"'),
  }),
  'append refuses every segment that is no plain name, and names it': (store) => ({
    append: (log, entry) => store.append(plain(log), entry),
  }),
  'readLog refuses every segment that is no plain name, and names it': (store) => ({
    readLog: (log) => store.readLog(plain(log)),
  }),
  'acquire refuses every segment that is no plain name, and names it': (store) => ({
    acquire: (key) => store.acquire(plain(key)),
  }),
  'observe refuses every segment that is no plain name, and names it': (store) => ({
    observe: (key) => store.observe(plain(key)),
  }),
  'takes the longest names and the deepest keys, and keeps similar ones apart': (store) => ({
    read: (key) => store.read(cut(key)),
    write: (key, value, options) => store.write(cut(key), value, options),
  }),
  'writes with a lease that is current': (store) => ({
    write: (key, value, options) =>
      options?.lease && options.mode !== 'create'
        ? Promise.resolve(true)
        : store.write(key, value, options),
  }),
  'writes nothing with a lease that is no longer current, and says so': (store) => ({
    remove: (key) => store.remove(key),
  }),
  'tells of each write whether it was made, while its lease is given back': (store) => ({
    append: async (log, entry, { lease } = {}) => {
      await store.append(log, entry);
      await later();
      if (lease && !lease.isCurrent()) throw new TypeError('it was written all the same');
    },
  }),
  'keeps a log in the order of the calls of one process': (store) => ({
    append: async (log, entry, options) => {
      calls += 1;
      if (calls % 2 === 0) await later();
      await store.append(log, entry, options);
    },
  }),
  'finds no entry where there is no log': () => ({
    readLog: async function* () {
      yield {};
    },
  }),
  'passes over as many entries as it is told': (store) => ({
    readLog: (log, { follow } = {}) => store.readLog(log, { follow }),
  }),
  'keeps the entries of many writers whole, each once': (store) => ({
    append: async (log, entry, options) => {
      calls += 1;
      if (calls % 10 !== 0) await store.append(log, entry, options);
    },
  }),
  'leaves out half an entry that a crash left, and goes on after it': (store) => ({
    readLog: async function* (log, options) {
      yield* store.readLog(log, options);
      yield undefined;
    },
  }),
  'follows a log over what others append, until it is told to stop': (store) => ({
    readLog: (log, { from } = {}) => store.readLog(log, { from }),
  }),
  'follows a log that is begun later': (store) => ({
    readLog: (log, { from } = {}) => store.readLog(log, { from }),
  }),
  'sets a log aside and begins another one': () => ({ setAside: async () => 'aside' }),
  'gives a lease to one owner, and tells the others who it is without waiting': (store) => ({
    acquire: (key) => store.acquire([...key, randomUUID()]),
  }),
  'gives a released lease to the next owner under a greater token': (store) => ({
    acquire: async (key) => {
      const taken = await store.acquire(key);
      return taken.lease ? { lease: { ...taken.lease, token: 1 } } : taken;
    },
  }),
  'gives a lease that many want at once to one of them': (store) => ({
    acquire: (key) => store.acquire([...key, randomUUID()]),
  }),
  'takes a lease over from a process that was killed': (store) => ({
    acquire: async (key) => {
      const { lease } = await store.acquire(key);
      await lease?.release();
      return { heldBy: { pid: 1, hostId: '', since: '' } };
    },
  }),
  'looks who holds a lease, and takes nothing over': (store) => ({
    observe: async (key) => {
      await store.acquire(key);
      return store.observe(key);
    },
  }),
  'sees that the owner of a lease is dead': () => ({ observe: async () => ({ state: 'held' }) }),
  'takes no lease for a caller that has given up': (store) => ({
    acquire: (key) => store.acquire(key),
  }),
};

describe('testStore', () => {
  it.each(storeCases)('catches a store that breaks: $title', async ({ title, prove }) => {
    const fault = faults[title];
    if (!fault) throw new TypeError('no fault shows this proof failing');
    await using subject = await createFileSubject(other, (store) => ({
      ...store,
      ...fault(store),
    }));
    await expect(prove(subject)).rejects.toThrow();
  });

  it('knows no fault without a promise', () => {
    const titles = storeCases.map(({ title }) => title);
    expect(Object.keys(faults).filter((title) => !titles.includes(title))).toEqual([]);
  });
});
