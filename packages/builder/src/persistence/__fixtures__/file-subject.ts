import { appendFile, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileStore } from '../file-store.js';
import type { Store } from '../store.js';
import type { StoreSubject } from '../test-store.js';
import type { StoreProcess } from './store-process.js';

/** File stores on a folder of their own, for the conformance suite. `wrap` plants a fault. */
export async function createFileSubject(
  other: StoreProcess,
  wrap: (store: Store) => Store = (store) => store,
): Promise<StoreSubject> {
  const dataDir = await mkdtemp(join(other.folder, 'data-'));
  const stores: Store[] = [];
  return {
    open: async () => {
      const store = wrap(createFileStore({ dataDir }));
      stores.push(store);
      return store;
    },
    damage: (key) => writeFile(join(dataDir, ...key), '{"half":'),
    tear: (log) => appendFile(join(dataDir, ...log), '{"half":'),
    takeAndDie: async (key) => {
      const ended = await other.run({ dataDir, call: ['acquire', key], dieAt: 'after' });
      if (ended !== 'SIGKILL') throw new TypeError(`it was to be killed: ${ended}`);
    },
    [Symbol.asyncDispose]: async () => {
      for (const store of stores) await store[Symbol.asyncDispose]();
    },
  };
}
