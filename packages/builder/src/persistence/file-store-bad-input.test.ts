import { execFileSync } from 'node:child_process';
import {
  chmod,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@holdfast/agent';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { bundleStore, setFaultHook } from './__fixtures__/store-process.js';
import { temporaryStore } from './__fixtures__/temporary-store.js';
import { createFileStore } from './file-store.js';
import type { Store, StoreKey } from './store.js';

afterEach(() => setFaultHook(undefined));

const key = ['runs', '1', 'main', 'logs', 'draft', 'continuation_state.json'];
const unusable = (reason: string) => ({ kind: 'state_unusable', reason });

async function firstEntry(store: Store, log: StoreKey): Promise<unknown> {
  return (await store.readLog(log)[Symbol.asyncIterator]().next()).value;
}

const acts: Readonly<Record<string, (store: Store, at: StoreKey) => Promise<unknown>>> = {
  read: (store, at) => store.read(at),
  write: (store, at) => store.write(at, 1),
  create: (store, at) => store.write(at, 1, { mode: 'create' }),
  remove: (store, at) => store.remove(at),
  setAside: (store, at) => store.setAside(at),
  append: (store, at) => store.append(at, 1),
  readLog: firstEntry,
  followLog: (store, at) =>
    store
      .readLog(at, { follow: AbortSignal.timeout(5_000) })
      [Symbol.asyncIterator]()
      .next(),
  acquire: (store, at) => store.acquire(at),
  observe: (store, at) => store.observe(at),
};

describe('a symbolic link below the data directory', () => {
  async function outsideFolder(): Promise<string> {
    const outside = await mkdtemp(join(tmpdir(), 'holdfast-'));
    onTestFinished(() => rm(outside, { recursive: true, force: true }));
    await mkdir(join(outside, 'logs', 'draft'), { recursive: true });
    await writeFile(join(outside, 'logs', 'draft', 'continuation_state.json'), '{"outside":1}');
    return outside;
  }

  it.each(Object.keys(acts))('in place of a run folder is refused by %s', async (act) => {
    const { dataDir, store } = await temporaryStore();
    const outside = await outsideFolder();
    await mkdir(join(dataDir, 'runs', '1'), { recursive: true });
    const link = join(dataDir, 'runs', '1', 'main');
    await symlink(outside, link);
    await expect(acts[act]?.(store, key)).rejects.toMatchObject({
      ...unusable('unreadable'),
      path: link,
    });
    expect(await readdir(join(outside, 'logs', 'draft'))).toEqual(['continuation_state.json']);
    await expect(store.list(key.slice(0, -1))).rejects.toMatchObject(unusable('unreadable'));
  });

  it.each([1, 2, 3, 4, 5])('in place of segment %i is not followed by readTexts', async (depth) => {
    const { dataDir, store } = await temporaryStore();
    const outside = await outsideFolder();
    const inside = [...key.slice(0, 4), 'plain', 'continuation_state.json'];
    await store.write(inside, 1);
    await mkdir(join(outside, ...key.slice(depth, -1)), { recursive: true });
    await writeFile(join(outside, ...key.slice(depth)), '{"outside":1}');
    expect(await store.readTexts?.([inside, key])).toEqual(['1\n', undefined]);
    await rm(join(dataDir, ...key.slice(0, depth)), { recursive: true, force: true });
    await symlink(
      depth === 5 ? join(outside, 'logs', 'draft') : outside,
      join(dataDir, ...key.slice(0, depth)),
    );
    expect(await store.readTexts?.([key, inside])).toEqual([
      undefined,
      depth === 5 ? '1\n' : undefined,
    ]);
  });

  it('in place of a file is not followed by readTexts', async () => {
    const { dataDir, store } = await temporaryStore();
    const target = join(await outsideFolder(), 'logs', 'draft', 'continuation_state.json');
    await mkdir(join(dataDir, ...key.slice(0, -1)), { recursive: true });
    await symlink(target, join(dataDir, ...key));
    expect(await store.readTexts?.([key])).toEqual([undefined]);
  });

  it.each(Object.keys(acts))('in place of a file is refused by %s', async (act) => {
    const { dataDir, store } = await temporaryStore();
    const target = join(await outsideFolder(), 'logs', 'draft', 'continuation_state.json');
    await mkdir(join(dataDir, ...key.slice(0, -1)), { recursive: true });
    await symlink(target, join(dataDir, ...key));
    await expect(acts[act]?.(store, key)).rejects.toMatchObject(unusable('unreadable'));
    expect(await readFile(target, 'utf8')).toBe('{"outside":1}');
  });

  it('is refused also where the folder was a plain one before', async () => {
    const { dataDir, store } = await temporaryStore();
    await store.write(key, 1);
    await rm(join(dataDir, 'runs', '1', 'main'), { recursive: true });
    await symlink(await outsideFolder(), join(dataDir, 'runs', '1', 'main'));
    await expect(store.read(key)).rejects.toMatchObject(unusable('unreadable'));
  });

  it('may be the data directory itself, which its owner chose', async () => {
    const outside = await outsideFolder();
    const { dataDir } = await temporaryStore();
    await symlink(outside, join(dataDir, 'link'));
    const store = createFileStore({ dataDir: join(dataDir, 'link') });
    await store.write(['a'], 1);
    expect(await readFile(join(outside, 'a'), 'utf8')).toBe('1\n');
  });
});

describe('what is no plain file', () => {
  it('is unusable, not absent, and is not waited for', async () => {
    const { dataDir, store } = await temporaryStore();
    await mkdir(join(dataDir, 'folder'));
    for (const act of ['read', 'write', 'remove', 'append', 'readLog']) {
      await expect(acts[act]?.(store, ['folder'])).rejects.toMatchObject(unusable('unreadable'));
    }
    execFileSync('mkfifo', [join(dataDir, 'pipe')]);
    for (const act of ['read', 'readLog', 'followLog']) {
      await expect(acts[act]?.(store, ['pipe'])).rejects.toMatchObject(unusable('unreadable'));
    }
    await writeFile(join(dataDir, 'latin'), Buffer.from([0x22, 0xe4, 0x22]));
    await writeFile(join(dataDir, 'large'), '1'.repeat(200_000));
    const odd = ['folder', 'pipe', 'latin', 'large'].map((name) => [name]);
    expect(await store.readTexts?.(odd)).toEqual(odd.map(() => undefined));
    await store.write(['record.json'], 1);
    for (const act of ['read', 'write', 'append', 'readLog', 'acquire']) {
      const below = acts[act]?.(store, ['record.json', 'below']);
      await expect(below).rejects.toMatchObject(unusable('unreadable'));
    }
    await expect(store.list(['record.json'])).rejects.toMatchObject(unusable('unreadable'));
  });
});

describe('a record of 50 MB', () => {
  it('is set aside whole, without being read', async () => {
    const { dataDir, store } = await temporaryStore();
    await store.write(key, 1);
    const path = join(dataDir, ...key);
    const size = 50 * 1024 * 1024;
    await writeFile(path, '{}');
    const file = await open(path, 'r+');
    await file.truncate(size);
    await file.close();
    const before = process.memoryUsage().arrayBuffers;
    const found = await store.read(key);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(size / 2);
    expect(found).toEqual({ state: 'damaged', movedTo: `${path}.damaged-1` });
    expect((await stat(`${path}.damaged-1`)).size).toBe(size);
    expect(await store.read(key)).toEqual(found);
  });

  it('is not written either', async () => {
    const { store } = await temporaryStore();
    await store.write(key, 'kept');
    await store.append(['log.jsonl'], 'kept');
    const large = 'x'.repeat(16 * 1024 * 1024);
    await expect(store.write(key, large)).rejects.toThrow(TypeError);
    await expect(store.append(['log.jsonl'], large)).rejects.toThrow(TypeError);
    expect(await store.read(key)).toEqual({ state: 'present', value: 'kept' });
    expect(await firstEntry(store, ['log.jsonl'])).toBe('kept');
  });
});

describe('text that is no JSON', () => {
  it.each(['', '{"a":', '\0\0\0\0', '{"a":1}{"b":2}'])('%j is set aside', async (content) => {
    const { dataDir, store } = await temporaryStore();
    await writeFile(join(dataDir, 'record.json'), content);
    expect(await store.read(['record.json'])).toMatchObject({ state: 'damaged' });
    expect(await readFile(join(dataDir, 'record.json.damaged-1'), 'utf8')).toBe(content);
  });

  it('is also what is no UTF-8', async () => {
    const { dataDir, store } = await temporaryStore();
    await writeFile(join(dataDir, 'record.json'), Buffer.from([0x22, 0xff, 0xfe, 0x22]));
    expect(await store.read(['record.json'])).toMatchObject({ state: 'damaged' });
  });

  it('is told alike to many who read it at once', async () => {
    const { dataDir, store } = await temporaryStore();
    await writeFile(join(dataDir, 'record.json'), 'no json');
    const found = await Promise.all(Array.from({ length: 20 }, () => store.read(['record.json'])));
    for (const one of found) {
      expect(one).toEqual({
        state: 'damaged',
        movedTo: join(dataDir, 'record.json.damaged-1'),
      });
    }
  });
});

describe('a damaged record that is written anew while others read it', () => {
  it('is not moved away', async () => {
    const { dataDir, store } = await temporaryStore();
    for (let round = 0; round < 20; round += 1) {
      await writeFile(join(dataDir, 'record.json'), 'no json');
      const reads = [store.read(['record.json']), store.read(['record.json'])];
      await store.write(['record.json'], round);
      await Promise.all(reads);
      expect(await store.read(['record.json'])).toEqual({ state: 'present', value: round });
    }
  });
});

describe('B44: a disk that is full', () => {
  const points = {
    write: 'atomic-write:written',
    create: 'atomic-write:written',
    append: 'append:written',
    acquire: 'lease:filled',
  };

  it.each(Object.entries(points))('is told by %s, and nothing is lost', async (act, point) => {
    const { store } = await temporaryStore();
    await store.write(['record.json'], 'kept');
    setFaultHook((taken) => {
      if (taken === point) throw Object.assign(new Error('ENOSPC: planted'), { code: 'ENOSPC' });
    });
    const at = act === 'write' ? ['record.json'] : ['new'];
    await expect(acts[act]?.(store, at)).rejects.toMatchObject(unusable('full'));
    setFaultHook(undefined);
    expect(await store.read(['record.json'])).toEqual({ state: 'present', value: 'kept' });
    await acts[act]?.(store, act === 'write' ? ['record.json'] : ['newer']);
  });
});

describe('a data directory that may not be written', () => {
  it('is told as read-only, and can be read', async () => {
    await using other = await bundleStore();
    const { dataDir, store } = await temporaryStore();
    await store.write(['a', 'record.json'], 'kept');
    await store.append(['a', 'log.jsonl'], 'kept');
    for (const name of ['record.json', 'log.jsonl']) await chmod(join(dataDir, 'a', name), 0o444);
    for (const folder of [join(dataDir, 'a'), dataDir]) await chmod(folder, 0o555);
    for (const folder of [other.folder, join(other.folder, 'program')]) await chmod(folder, 0o755);
    // Permissions do not bind root, so that root asks as nobody.
    const uid = process.getuid?.() === 0 ? 65_534 : undefined;
    const run = (...call: readonly unknown[]) => other.run({ dataDir, call, uid });
    expect(await run('write', ['a', 'record.json'], 1)).toBe('read_only');
    expect(await run('write', ['b', 'record.json'], 1)).toBe('read_only');
    expect(await run('remove', ['a', 'record.json'])).toBe('read_only');
    expect(await run('append', ['a', 'log.jsonl'], 1)).toBe('read_only');
    expect(await run('setAside', ['a', 'record.json'])).toBe('read_only');
    expect(await run('acquire', ['a', 'lease'])).toBe('read_only');
    expect(await run('read', ['a', 'record.json'])).toContain('kept');
    for (const folder of [dataDir, join(dataDir, 'a')]) await chmod(folder, 0o755);
    expect(await store.read(['a', 'record.json'])).toEqual({ state: 'present', value: 'kept' });
  }, 120_000);
});

describe('a clock that jumps back', () => {
  it('changes no order and no owner', async () => {
    const { dataDir } = await temporaryStore();
    const begun = Date.parse('2026-06-01T00:00:00.000Z');
    let now = begun;
    const clock = { ...systemClock, now: () => (now -= 86_400_000) };
    const store = createFileStore({ dataDir, clock });
    const first = await store.acquire(['lease']);
    await first.lease?.release();
    const { lease: second } = await store.acquire(['lease']);
    onTestFinished(async () => second?.release());
    expect(second?.token).toBe(2);
    expect((await store.acquire(['lease'])).heldBy?.pid).toBe(process.pid);
    expect(first.lease?.isCurrent()).toBe(false);
    expect(second?.isCurrent()).toBe(true);
    const lease = second;
    for (const entry of [1, 2, 3]) await store.append(['log.jsonl'], entry, { lease });
    expect(await firstEntry(store, ['log.jsonl'])).toBe(1);
    expect(now).toBeLessThan(begun);
  });
});
