import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createFileStore } from './file-store.js';

it('keeps records, logs and leases', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const store = createFileStore({ dataDir });
  const key = ['a', 'b', 'c.json'];
  expect(await store.read(key)).toEqual({ state: 'absent' });
  expect(await store.write(key, { a: 1 }, { mode: 'create' })).toBe(true);
  expect(await store.write(key, { a: 2 }, { mode: 'create' })).toBe(false);
  expect(await store.read(key)).toEqual({ state: 'present', value: { a: 1 } });
  const { lease } = await store.acquire(['a', 'lease']);
  await store.append(['a', 'log.jsonl'], 1, { lease });
  expect(await store.acquire(['a', 'lease'])).toMatchObject({ heldBy: { pid: process.pid } });
  await lease?.release();
  await expect(store.append(['a', 'log.jsonl'], 2, { lease })).rejects.toMatchObject({
    kind: 'session_busy',
  });
  expect(await collect(store.readLog(['a', 'log.jsonl']))).toEqual([1]);
  expect(await store.list(['a'])).toEqual(['b', 'lease', 'log.jsonl']);
  await store.remove(key);
  expect(await store.list(['a', 'b'])).toEqual([]);
});

async function collect(entries: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
}
