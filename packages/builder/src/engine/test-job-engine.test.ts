import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../persistence/store.js';
import { createEngineSubject } from './__fixtures__/engine-subject.js';
import { createHolderProcesses, type HolderProcesses } from './__fixtures__/holder-process.js';
import { jobEngineCases } from './test-job-engine.js';

let processes: HolderProcesses;

beforeAll(async () => {
  processes = await createHolderProcesses();
}, 120_000);

afterAll(() => processes[Symbol.asyncDispose]());

const everybodyHasIt = (store: Store): Store => ({
  ...store,
  observe: async () => ({ state: 'free' }),
  acquire: async () => {
    const release = async () => {};
    return { lease: { token: 1, isCurrent: () => true, release, [Symbol.asyncDispose]: release } };
  },
  write: (key, value, options) => store.write(key, value, { mode: options?.mode }),
  remove: (key) => store.remove(key),
});

const nothingIsKept = (store: Store): Store => ({
  ...store,
  write: async (key, value, options) =>
    options?.mode === 'create' ? true : store.write(key, value, options),
});

const everyNameIsThere = (store: Store): Store => ({
  ...store,
  write: async (key, value, options) => {
    await store.write(key, value, options);
    return true;
  },
});

const backwards = (store: Store): Store => ({
  ...store,
  write: (key, value, options) => {
    const record = typeof value === 'object' && value !== null && 'order' in value ? value : {};
    const order = `z${1e15 - Number(String(record['order']).replaceAll(/\D/g, '').slice(8, 23))}`;
    return store.write(key, 'order' in record ? { ...record, order } : value, options);
  },
});

/** A fault of an engine, here of the store below it, and the case that must catch it. */
const faults: readonly (readonly [string, (store: Store) => Store, string])[] = [
  [
    'more than one owner',
    everybodyHasIt,
    'runs each of 100 jobs once, though three engines want it',
  ],
  [
    'an enqueue that is not on disk',
    nothingIsKept,
    'keeps a job from the moment enqueue resolves, for whoever starts later',
  ],
  [
    'an id that is taken twice',
    everyNameIsThere,
    'takes the same id once: waiting, running or parked, but anew when it is done',
  ],
  [
    'another order than that of time',
    backwards,
    'begins jobs in the order they were enqueued, also after a restart',
  ],
];

describe('the conformance suite of job engines', () => {
  it.each(faults)('catches %s', async (_fault, wrap, title) => {
    const found = jobEngineCases.find((one) => one.title === title);
    await using faulty = await createEngineSubject(processes, wrap);
    await expect(found?.prove(faulty)).rejects.toMatchObject({ name: 'AssertionError' });
  });
});
