import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StateUnusableError } from '@holdfast/agent';
import { expect, it, vi } from 'vitest';
import { createBench, type Plant } from './__fixtures__/engine-bench.js';
import type { JobOutcome } from './job-engine.js';

const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 20_000, interval: 10 });
const HOUR = 3_600_000;

it('waits no longer than it was told, though the clock is set back', async () => {
  const { clock, open } = await createBench();
  const notBefore = new Date(clock.wall + 10_000).toISOString();
  const said: JobOutcome[] = [{ state: 'later', reason: 'a limit', notBefore }];
  const ran: number[] = [];
  const engine = open(async () => {
    ran.push(clock.monotonicMs());
    return said.shift() ?? { state: 'done' };
  });
  await engine.start();
  await engine.enqueue('work', 'one', null);
  await eventually(async () => expect((await engine.list('work'))[0]?.notBefore).toBe(notBefore));
  clock.wall -= 24 * HOUR;
  await clock.passUntil(500, () => ran.length === 2);
  const [first = 0, second = 0] = ran;
  expect(second - first).toBeGreaterThanOrEqual(10_000);
  expect(second - first).toBeLessThanOrEqual(11_000);
});

it('waits no longer than that in a new process either', async () => {
  const { clock, open } = await createBench();
  const notBefore = new Date(clock.wall + 10_000).toISOString();
  const first = open(async () => ({ state: 'later', reason: 'a limit', notBefore }));
  await first.start();
  await first.enqueue('work', 'one', null);
  await eventually(async () => expect((await first.list('work'))[0]?.notBefore).toBe(notBefore));
  await first.stop();
  clock.wall -= 24 * HOUR;
  let ran = 0;
  const second = open(async () => {
    ran += 1;
    return { state: 'done' };
  });
  expect((await second.start()).left).toMatchObject([{ id: 'one', reason: 'not_before' }]);
  expect(await clock.passUntil(500, () => ran === 1)).toBeLessThanOrEqual(11_000);
});

it('begins a job early when the clock says that its instant has come', async () => {
  const { clock, open } = await createBench();
  const notBefore = new Date(clock.wall + HOUR).toISOString();
  const said: JobOutcome[] = [{ state: 'later', reason: 'a limit', notBefore }];
  const engine = open(async () => said.shift() ?? { state: 'done' });
  await engine.start();
  await engine.enqueue('work', 'one', null);
  await eventually(async () => expect((await engine.list('work'))[0]?.notBefore).toBe(notBefore));
  // A machine that slept: the monotonic clock stood still.
  clock.wall += HOUR;
  const passed = await clock.passUntil(500, async () => (await engine.list('work')).length === 0);
  expect(passed).toBeLessThanOrEqual(5_000);
});

it('asks less and less often for jobs that others hold, and never for parked ones', async () => {
  const { clock, open } = await createBench();
  const held = new Set<string>();
  const peer = open(async ({ id }, { signal }) => {
    if (id.startsWith('parked')) return { state: 'parked', reason: 'wait' };
    held.add(id);
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return { state: 'done' };
  });
  for (let index = 0; index < 100; index += 1) {
    await peer.enqueue('work', `parked-${index}`, null);
    await peer.enqueue('work', `held-${index}`, null);
  }
  await peer.start();
  await eventually(() => expect(held.size).toBe(100));
  await eventually(async () => {
    const parked = (await peer.list('work')).filter(({ state }) => state === 'parked');
    expect(parked).toHaveLength(100);
  });
  const leases: string[] = [];
  let reads = 0;
  const look = (key: readonly string[]) => leases.push(key.at(-1) ?? '');
  const count: Plant = (store) => ({
    observe: (key) => {
      look(key);
      return store.observe(key);
    },
    acquire: (key, options) => {
      look(key);
      return store.acquire(key, options);
    },
    read: (key) => {
      reads += 1;
      return store.read(key);
    },
  });
  const engine = open(async () => ({ state: 'done' }), count);
  expect((await engine.start()).left).toHaveLength(200);
  for (let second = 0; second < 10; second += 1) await clock.pass(1_000);
  leases.length = 0;
  reads = 0;
  for (let second = 0; second < 40; second += 1) await clock.pass(1_000);
  expect(leases.filter((id) => id.startsWith('parked'))).toEqual([]);
  // Each held one every 4 s, once its pause has grown.
  expect(leases.length).toBeGreaterThanOrEqual(100);
  expect(leases.length).toBeLessThanOrEqual(1_100);
  expect(reads).toBeLessThanOrEqual(300);
});

it('begins nothing that a peer parked or put off since it was read', async () => {
  const { clock, open } = await createBench();
  const gate = new AbortController();
  const notBefore = new Date(clock.wall + HOUR).toISOString();
  const begun: string[] = [];
  const peer = open(async ({ id }) => {
    begun.push(id);
    await new Promise((resolve) => gate.signal.addEventListener('abort', resolve));
    return { state: id === 'parked' ? 'parked' : 'later', reason: 'wait', notBefore };
  });
  await peer.start();
  for (const id of ['parked', 'later']) await peer.enqueue('work', id, null);
  // The attempt is on disk before the handler is called, which a stop in between leaves out.
  await eventually(() => expect(begun).toHaveLength(2));
  const ran: string[] = [];
  const engine = open(async ({ id }) => {
    ran.push(id);
    return { state: 'done' };
  });
  const { left } = await engine.start();
  expect(left.map(({ reason }) => reason)).toEqual(['live_owner', 'live_owner']);
  gate.abort();
  await peer.stop();
  for (let second = 0; second < 20; second += 1) await clock.pass(1_000);
  expect(ran).toEqual([]);
  await clock.passUntil(60_000, () => ran.length > 0);
  expect(ran).toEqual(['later']);
});

it('keeps what a handler said while the disk is full, and runs the job once', async () => {
  const { clock, store, warnings, open } = await createBench();
  let ran = 0;
  let isFull = true;
  const plant: Plant = () => ({
    remove: async (key, options) => {
      if (isFull) throw new StateUnusableError(key.join('/'), 'full', 'no space left.');
      await store.remove(key, options);
    },
  });
  const engine = open(async () => {
    ran += 1;
    return { state: 'done' };
  }, plant);
  await engine.start();
  await engine.enqueue('work', 'one', null);
  await clock.passUntil(
    500,
    () => warnings.filter((one) => one.includes('end of a job')).length > 2,
  );
  isFull = false;
  await clock.passUntil(1_000, async () => (await engine.list('work')).length === 0);
  expect(ran).toBe(1);
});

it('writes nothing once another process took the job over, and aborts the handler', async () => {
  const { dataDir, clock, open } = await createBench();
  let isOurs = true;
  const plant: Plant = (store) => ({
    acquire: async (key, options) => {
      const { lease, heldBy } = await store.acquire(key, options);
      if (!lease) return { heldBy };
      return { lease: { ...lease, isCurrent: () => isOurs && lease.isCurrent() } };
    },
    write: async (key, value, options) => {
      if (options?.lease && !options.lease.isCurrent()) throw new TypeError('fenced');
      return await store.write(key, value, options);
    },
  });
  let abortedBy: string | undefined;
  const engine = open(async (_job, { signal, isCurrent }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    abortedBy = isCurrent() ? 'stop' : 'loss';
    return { state: 'parked', reason: 'written by the loser' };
  }, plant);
  await engine.start();
  await engine.enqueue('work', 'one', null);
  await eventually(async () => expect((await engine.list('work'))[0]?.attempt).toBe(1));
  const path = join(dataDir, 'engine/work/jobs/one.json');
  const before = await readFile(path, 'utf8');
  isOurs = false;
  await clock.passUntil(500, () => abortedBy !== undefined);
  await engine.stop();
  expect(abortedBy).toBe('loss');
  expect(await readFile(path, 'utf8')).toBe(before);
});

it('lets an owner that cannot be seen delay no other job, nor the stop', async () => {
  const { clock, store, open } = await createBench();
  const plant: Plant = () => ({
    observe: async (key) => (key.at(-1) === 'unseen' ? { state: 'unknown' } : store.observe(key)),
    acquire: (key, options) => {
      if (key.at(-1) !== 'unseen') return store.acquire(key, options);
      return new Promise((_resolve, reject) => {
        options?.signal?.addEventListener('abort', () => reject(options.signal?.reason));
      });
    },
  });
  const ran: string[] = [];
  const engine = open(
    async ({ id }) => {
      ran.push(id);
      return { state: 'done' };
    },
    plant,
    { concurrency: 1 },
  );
  for (const id of ['unseen', 'one', 'two']) await engine.enqueue('work', id, null);
  const report = await engine.start();
  expect(report.left).toMatchObject([{ id: 'unseen', reason: 'live_owner' }]);
  await clock.passUntil(500, () => ran.length === 2);
  expect(ran).toEqual(['one', 'two']);
  await engine.stop();
  expect(await engine.list('work')).toMatchObject([{ id: 'unseen', attempt: 0 }]);
});

it('goes on beside a job that cannot be read, and runs it once it can', async () => {
  const { clock, store, open } = await createBench();
  let isBroken = true;
  const plant: Plant = () => ({
    read: async (key) => {
      const isIt = isBroken && key.at(-1) === 'broken.json';
      if (isIt) throw new StateUnusableError(key.join('/'), 'unreadable', 'input/output error.');
      return await store.read(key);
    },
  });
  const ran: string[] = [];
  const handler = async ({ id }: { readonly id: string }) => {
    ran.push(id);
    return { state: 'done' } as const;
  };
  const engine = open(handler, plant);
  for (const id of ['broken', 'one']) await open().enqueue('work', id, null);
  expect((await engine.start()).left).toMatchObject([{ id: 'broken', reason: 'damaged' }]);
  await clock.passUntil(500, () => ran.length === 1);
  isBroken = false;
  await clock.passUntil(1_000, () => ran.length === 2);
  expect(ran).toEqual(['one', 'broken']);
});

it('leaves a job of a newer version byte for byte, and says so', async () => {
  const { dataDir, clock, store, open } = await createBench();
  await store.write(['engine', 'work', 'jobs', 'new.json'], { schema_version: 99, id: 'new' });
  const path = join(dataDir, 'engine/work/jobs/new.json');
  const before = await readFile(path, 'utf8');
  const ran: string[] = [];
  const engine = open(async ({ id }) => {
    ran.push(id);
    return { state: 'done' };
  });
  const report = await engine.start();
  expect(report.left).toMatchObject([{ id: 'new', reason: 'damaged' }]);
  expect(report.left[0]?.detail).toContain('newer version');
  await engine.enqueue('work', 'one', null);
  await clock.passUntil(1_000, () => ran.length === 1);
  expect(await engine.enqueue('work', 'new', null)).toBe(false);
  expect(await readFile(path, 'utf8')).toBe(before);
});

it('keeps the promise of a wake whose process died, and forgets a cancel of a job that is gone', async () => {
  const { clock, store, open } = await createBench();
  const note = { schema_version: 1, id: 'one', payload: 'kept' };
  await store.write(['engine', 'work', 'wakes', '2026~1~a.json'], note);
  await store.write(['engine', 'work', 'cancels', '2026~2~b.json'], { schema_version: 1, id: 'x' });
  const ran: unknown[] = [];
  const engine = open(async ({ payload }) => {
    ran.push(payload);
    return { state: 'done' };
  });
  await engine.start();
  await clock.passUntil(500, () => ran.length === 1);
  await clock.passUntil(500, async () => (await engine.list('work')).length === 0);
  expect(ran).toEqual(['kept']);
  expect(await store.list(['engine', 'work', 'wakes'])).toEqual([]);
  expect(await store.list(['engine', 'work', 'cancels'])).toEqual([]);
});

it('goes on after a folder could not be listed', async () => {
  const { clock, store, warnings, open } = await createBench();
  let isBroken = false;
  const plant: Plant = () => ({
    list: async (key) => {
      if (isBroken)
        throw new StateUnusableError(key.join('/'), 'unreadable', 'too many open files.');
      return await store.list(key);
    },
  });
  const ran: string[] = [];
  const engine = open(async ({ id }) => {
    ran.push(id);
    return { state: 'done' };
  }, plant);
  await engine.start();
  isBroken = true;
  await open().enqueue('work', 'one', null);
  await clock.passUntil(500, () => warnings.includes('queue not looked through'));
  isBroken = false;
  await clock.passUntil(500, () => ran.length === 1);
});
