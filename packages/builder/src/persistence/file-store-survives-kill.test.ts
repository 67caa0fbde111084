import { mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bundleStore, type StoreProcess } from './__fixtures__/store-process.js';
import { createFileStore } from './file-store.js';
import type { Store } from './store.js';

/** Real processes that are really killed, at every step of every change. */
let other: StoreProcess;
let dataDir = '';
let store: Store;

beforeAll(async () => {
  other = await bundleStore();
}, 120_000);

afterAll(() => other[Symbol.asyncDispose]());

beforeEach(async () => {
  dataDir = await mkdtemp(join(other.folder, 'case-'));
  store = createFileStore({ dataDir });
});

const key = ['notifications', 'one.json'];
const log = ['chats', 'one', 'events.jsonl'];

async function killAt(dieAt: string, ...call: readonly unknown[]): Promise<void> {
  expect(await other.run({ dataDir, call, dieAt })).toBe('SIGKILL');
}

describe('B46: a process killed while it replaces a record', () => {
  it.each([
    ['store:before-write:notification', 'old'],
    ['atomic-write:created', 'old'],
    ['atomic-write:written', 'old'],
    ['atomic-write:synced', 'old'],
    ['atomic-write:renamed', 'new'],
    ['atomic-write:folder-synced', 'new'],
    ['store:after-write:notification', 'new'],
  ])('at "%s" leaves the %s one whole', async (step, value) => {
    await store.write(key, 'old');
    await killAt(step, 'write', key, 'new');
    expect(await store.read(key)).toEqual({ state: 'present', value });
    expect(await store.list(['notifications'])).toEqual(['one.json']);
    await store.write(key, 'newest');
    expect(await store.read(key)).toEqual({ state: 'present', value: 'newest' });
  });
});

describe('a process killed while it creates a record', () => {
  it.each([
    ['store:folder-made', true],
    ['atomic-write:synced', true],
    ['atomic-write:renamed', false],
    ['store:after-write:notification', false],
  ])('at "%s" leaves none or a whole one', async (step, isFree) => {
    await killAt(step, 'write', key, 'theirs', { mode: 'create' });
    expect(await store.write(key, 'ours', { mode: 'create' })).toBe(isFree);
    const value = isFree ? 'ours' : 'theirs';
    expect(await store.read(key)).toEqual({ state: 'present', value });
  });
});

describe('a process killed while it takes a record away or sets it aside', () => {
  it.each([
    ['remove', 'before', 'present'],
    ['remove', 'after', 'absent'],
    ['set-aside', 'before', 'present'],
    ['set-aside', 'after', 'damaged'],
  ] as const)('by %s, %s it', async (what, when, state) => {
    await store.write(key, 1);
    const method = what === 'remove' ? 'remove' : 'setAside';
    await killAt(`store:${when}-${what}:notification`, method, key);
    expect((await store.read(key)).state).toBe(state);
  });
});

describe('a process killed while it appends', () => {
  it.each([
    ['store:before-append:chat/events.jsonl', ['first', 'next']],
    ['append:written', ['first', 'theirs', 'next']],
    ['append:synced', ['first', 'theirs', 'next']],
    ['store:after-append:chat/events.jsonl', ['first', 'theirs', 'next']],
  ])('at "%s" leaves a log to go on with', async (step, entries) => {
    await store.append(log, 'first');
    await killAt(step, 'append', log, 'theirs');
    await store.append(log, 'next');
    const found: unknown[] = [];
    for await (const entry of store.readLog(log)) found.push(entry);
    expect(found).toEqual(entries);
  });
});

describe('B48: several processes that create one record', () => {
  it('get one winner between them', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const said = await Promise.all(
      names.map((name) => other.run({ dataDir, call: ['write', key, name, { mode: 'create' }] })),
    );
    expect(said.filter((line) => line === 'done true')).toHaveLength(1);
    expect(said.filter((line) => line === 'done false')).toHaveLength(3);
    const winner = names[said.indexOf('done true')];
    expect(await store.read(key)).toEqual({ state: 'present', value: winner });
    expect(await readdir(join(dataDir, 'notifications'))).toEqual(['one.json']);
  });
});
