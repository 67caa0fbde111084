import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createFileSubject } from './__fixtures__/file-subject.js';
import { bundleStore, type StoreProcess, setFaultHook } from './__fixtures__/store-process.js';
import { temporaryStore } from './__fixtures__/temporary-store.js';
import { createFileStore } from './file-store.js';
import { testStore } from './test-store.js';

let other: StoreProcess;

beforeAll(async () => {
  other = await bundleStore();
}, 120_000);

afterAll(() => other[Symbol.asyncDispose]());

testStore({ describe, it }, () => createFileSubject(other));

describe('the file store', () => {
  it('puts a record exactly at its key, for its owner alone', async () => {
    const { dataDir, store } = await temporaryStore();
    await store.write(['runs', '1', 'record.json'], { a: 1 });
    await store.append(['runs', '1', 'events.jsonl'], { b: 1 });
    for (const name of ['record.json', 'events.jsonl']) {
      expect((await stat(join(dataDir, 'runs', '1', name))).mode & 0o777).toBe(0o600);
    }
    for (const folder of ['runs', 'runs/1']) {
      expect((await stat(join(dataDir, folder))).mode & 0o777).toBe(0o700);
    }
  });

  it('makes each new folder durable before anything stands in it', async () => {
    const { store } = await temporaryStore();
    const steps: string[] = [];
    setFaultHook((step) => steps.push(step));
    onTestFinished(() => setFaultHook(undefined));
    await store.write(['runs', '1', 'main', 'run.json'], 1);
    const made = Array.from({ length: 3 }, () => 'store:folder-made');
    expect(steps.slice(0, 5)).toEqual([
      'store:before-write:run/run.json',
      ...made,
      'atomic-write:created',
    ]);
    steps.length = 0;
    await store.append(['runs', '1', 'main', 'events.jsonl'], 1);
    expect(steps).not.toContain('store:folder-made');
  });

  it('hides what a killed writer left, and no key can name it', async () => {
    const { dataDir, store } = await temporaryStore();
    await store.write(['a', 'record.json'], 1);
    await writeFile(join(dataDir, 'a', '.record.json.0123456789abcdef.tmp'), 'half');
    expect(await store.list(['a'])).toEqual(['record.json']);
    for (const name of ['.record.json.0123456789abcdef.tmp', 'record.json.damaged-1']) {
      await expect(store.read(['a', name])).rejects.toThrow(name);
      await expect(store.read(['a', name])).rejects.toBeInstanceOf(TypeError);
    }
  });

  it('names the file that was set aside', async () => {
    const { dataDir, store } = await temporaryStore();
    await store.write(['record.json'], 1);
    expect(await store.setAside(['record.json'])).toBe(join(dataDir, 'record.json.damaged-1'));
  });

  it('asks the fence at the last moment, when all is written but the name', async () => {
    const { dataDir, store } = await temporaryStore();
    await store.write(['record.json'], 'kept');
    let isCurrent = true;
    setFaultHook((step) => {
      if (step === 'atomic-write:synced') isCurrent = false;
    });
    onTestFinished(() => setFaultHook(undefined));
    const { lease } = await store.acquire(['lease']);
    onTestFinished(async () => lease?.release());
    const fence = lease && { ...lease, isCurrent: () => isCurrent };
    for (const mode of ['replace', 'create'] as const) {
      isCurrent = true;
      const late = store.write([mode === 'create' ? 'new.json' : 'record.json'], 'late', {
        lease: fence,
        mode,
      });
      await expect(late).rejects.toMatchObject({ kind: 'session_busy' });
    }
    expect((await readdir(dataDir)).sort()).toEqual(['lease', 'record.json']);
    expect(await store.read(['record.json'])).toEqual({ state: 'present', value: 'kept' });
  });

  it('refuses a data directory that is none', () => {
    expect(() => createFileStore({ dataDir: ' ' })).toThrow(TypeError);
  });

  it('ends what was begun when it is closed, and takes nothing more', async () => {
    const { dataDir, store } = await temporaryStore();
    const writes = [store.write(['a.json'], 1), store.append(['log.jsonl'], 1)];
    const following = store.readLog(['later.jsonl'], { follow: new AbortController().signal });
    const next = following[Symbol.asyncIterator]().next();
    await store[Symbol.asyncDispose]();
    expect(await readFile(join(dataDir, 'a.json'), 'utf8')).toBe('1\n');
    expect(await readFile(join(dataDir, 'log.jsonl'), 'utf8')).toBe('1\n');
    await Promise.all(writes);
    expect(await next).toMatchObject({ done: true });
    await expect(store.write(['a.json'], 2)).rejects.toThrow('closed');
    await expect(store.read(['a.json'])).rejects.toThrow('closed');
  });
});

describe('a look through many records', () => {
  it('lets other work have its turn meanwhile', async () => {
    const { store } = await temporaryStore();
    await store.write(['a'], 'x');
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const texts = await store.readTexts?.(Array.from({ length: 5_000 }, () => ['a']));
    isOver = true;
    expect(texts?.length).toBe(5_000);
    expect(turns).toBeGreaterThan(2);
  });
});
