import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFileStore } from '../persistence/file-store.js';
import { keys } from '../persistence/keys.js';
import type { Store } from '../persistence/store.js';
import type { ContinuationState } from './continuation-state.js';
import { readContinuationState, writeContinuationState } from './continuation-state-file.js';

const KEY = { iteration: 'iteration-1', group: 'main', step: 'draft' };
const V2 = new URL('../__fixtures__/v2/states/all-phases.json', import.meta.url);

let dir = '';
let store: Store;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  store = createFileStore({ dataDir: dir });
});

afterEach(async () => {
  await store[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

const file = () => join(dir, ...keys.state(KEY));

async function put(text: string): Promise<void> {
  // The store makes the folder.
  await store.write(keys.state(KEY), {});
  await writeFile(file(), text);
}

async function readPresent(): Promise<ContinuationState> {
  const read = await readContinuationState(store, KEY);
  if (read.state !== 'present') throw new TypeError(`it is ${read.state}`);
  return read.value;
}

async function takeLease() {
  const { lease } = await store.acquire(keys.executionLease(KEY));
  if (!lease) throw new TypeError('the lease is held');
  return lease;
}

describe('a state file', () => {
  it('is absent where none stands', async () => {
    expect(await readContinuationState(store, KEY)).toEqual({ state: 'absent' });
  });

  it('is the same bytes after it was read and written', async () => {
    const golden = await readFile(V2, 'utf8');
    await put(golden);
    const state = await readPresent();
    await using lease = await takeLease();
    await writeContinuationState(store, KEY, state, lease);
    expect(await readFile(file(), 'utf8')).toBe(golden);
  });

  it('is not written by one whose lease another has', async () => {
    const golden = await readFile(V2, 'utf8');
    await put(golden);
    const state = await readPresent();
    const lease = await takeLease();
    await lease.release();
    const written = writeContinuationState(store, KEY, { ...state, answer: 'other' }, lease);
    await expect(written).rejects.toMatchObject({ kind: 'session_busy' });
    expect(await readFile(file(), 'utf8')).toBe(golden);
  });

  it.each([
    ['half a file', '{"schema_version":2,"phases":{', 'damaged'],
    ['a status nobody knows', '{"phases":{"kb_review":{"status":"paused"}}}', 'damaged'],
    ['a newer schema', '{"schema_version":3,"phases":{}}', 'newer_schema'],
  ])('with %s is set aside whole and stays unusable', async (_what, text, reason) => {
    await put(text);
    const read = await readContinuationState(store, KEY);
    expect(read).toMatchObject({ state: 'set_aside', reason });
    if (read.state !== 'set_aside') return;
    expect(await readFile(read.movedTo, 'utf8')).toBe(text);
    expect(await readContinuationState(store, KEY)).toMatchObject({
      state: 'set_aside',
      movedTo: read.movedTo,
    });
    expect(await readdir(join(file(), '..'))).toHaveLength(1);
  });
});
