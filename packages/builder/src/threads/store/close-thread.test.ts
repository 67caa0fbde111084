import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../engine/__fixtures__/manual-clock.js';
import { temporaryStore } from '../../persistence/__fixtures__/temporary-store.js';
import { bench, checkpointOf } from './__fixtures__/bench.js';
import {
  jobOf,
  openFresh,
  place,
  runJob,
  SESSION,
  takeTurn,
  tombstone,
  trusted,
} from './__fixtures__/thread-bench.js';
import { archiveBudgetMs, type CloseOptions } from './close-effect.js';
import { nameThread } from './thread-files.js';
import { createThreadStore } from './thread-store.js';

const native = (run: () => Promise<void>, remainingMs?: number): CloseOptions => ({
  effect: { archive: 'native', run },
  remainingMs,
});

const broken = native(() => Promise.reject(new TypeError('no')));

describe('closing a thread', () => {
  it('has min(10 s, what remains - 5 s) for the archive', () => {
    expect([undefined, 60_000, 15_000, 9_000, 5_000, 0].map(archiveBudgetMs)).toEqual([
      10_000, 10_000, 10_000, 4_000, 0, -5_000,
    ]);
  });

  it('skips the archive of a nearly spent lease rather than the delivery', async () => {
    const { store, bytes } = await bench();
    let calls = 0;
    const spent = native(async () => {
      calls += 1;
    }, 5_000);
    const { thread } = await runJob(store, jobOf({ closeAfterTurn: true }), spent);
    expect(thread).toMatchObject({ state: 'READY', closeError: 'no time is left to archive it' });
    const before = await bytes();
    const job = jobOf({ mode: 'close', expectedCheckpoint: thread?.checkpoint });
    await expect(runJob(store, job, spent)).rejects.toMatchObject({
      kind: 'thread_close_unproven',
      retry: 'same',
    });
    expect([calls, await bytes()]).toEqual([0, before]);
  });

  it('delivers the committed result when the archive never answers, with the thread resumable', async () => {
    const { store } = await temporaryStore();
    const clock = new ManualClock();
    const threads = createThreadStore(store, { clock });
    const thread = await openFresh(threads, jobOf({ operationId: 'op-1' }));
    await takeTurn(thread);
    const closing = thread.closeAfterTurn(native(() => new Promise(() => {})));
    await clock.pass(10_000);
    const outcome = await closing;
    await thread[Symbol.asyncDispose]();
    expect(outcome).toMatchObject({
      outcome: 'implemented',
      thread: { state: 'READY', closeError: 'the archive did not answer within 10s' },
    });
    const resume = { mode: 'resume', expectedCheckpoint: outcome.thread?.checkpoint } as const;
    expect((await runJob(store, jobOf(resume))).outcome).toBe('implemented');
  });

  it('fails typed where the archive of a dedicated close fails, and stays closable with the same directive', async () => {
    const { store, threads } = await bench();
    await runJob(store, jobOf({}));
    const expectedCheckpoint = await checkpointOf(store);
    const job = jobOf({ mode: 'close', expectedCheckpoint, operationId: 'close-1' });
    await expect(runJob(store, job, broken)).rejects.toMatchObject({
      kind: 'thread_close_unproven',
      retry: 'same',
    });
    expect(await threads.inspect(place)).toMatchObject({
      state: 'READY',
      checkpoint: expectedCheckpoint,
      closeError: 'it failed: no',
    });
    const closed = await runJob(
      store,
      job,
      native(async () => {}),
    );
    expect(closed).toMatchObject({ outcome: 'closed', thread: { state: 'CLOSED' } });
    expect(await runJob(store, job, broken)).toEqual(closed);
  });

  it('closes by a durable tombstone where the adapter has no archive, however little time is left', async () => {
    const { store, threads } = await bench();
    const job = jobOf({ operationId: 'op-1', closeAfterTurn: true });
    const done = await runJob(store, job, { ...tombstone, remainingMs: 1 });
    expect(done.thread?.state).toBe('CLOSED');
    expect((await threads.open({ job, trusted })).replayed).toEqual(done);
  });
});

describe('retention', () => {
  it('reclaims only threads that ended long ago, never their reference, and none that another holds', async () => {
    const { store, dataDir } = await temporaryStore();
    const clock = new ManualClock();
    const threads = createThreadStore(store, { clock });
    const refs = ['a', 'b', 'c'].map((end) => SESSION.replace(/a$/, end));
    for (const sessionRef of refs) {
      await using thread = await openFresh(threads, jobOf({ sessionRef }));
      await takeTurn(thread);
      if (sessionRef !== refs[0]) await thread.closeAfterTurn(tombstone);
    }
    await store.write(['threads', 'artifacts', 'one'], 'not a thread');
    clock.wall += 29 * 86_400_000;
    expect(await threads.bury()).toBe(0);
    clock.wall += 2 * 86_400_000;
    const real = createThreadStore({ ...store });
    const held = refs[2] ?? '';
    const lease = (
      await store.acquire(['thread-leases', nameThread({ ...place, sessionRef: held })])
    ).lease;
    const patient = { ...clock, now: clock.now, sleep: async () => {} };
    const burying = createThreadStore(store, { clock: patient });
    const reclaimed: string[] = [];
    const reclaim = async ({ sessionRef }: { readonly sessionRef: string }) => {
      reclaimed.push(sessionRef);
    };
    expect(await burying.bury(() => Promise.reject(new TypeError('its folder stays')))).toBe(0);
    expect(await burying.bury(reclaim)).toBe(1);
    await lease?.release();
    expect(await burying.bury(reclaim)).toBe(1);
    expect(reclaimed).toEqual(refs.slice(1));
    expect(await burying.bury()).toBe(0);
    const buried = jobOf({ sessionRef: held });
    await expect(real.open({ job: buried, trusted })).rejects.toMatchObject({
      kind: 'thread_closed',
    });
    const text = await readFile(
      join(dataDir, 'threads', nameThread({ ...place, sessionRef: held })),
      'utf8',
    );
    expect(text).not.toContain('diff --git');
    expect(await threads.inspect(place)).toMatchObject({ state: 'READY' });
  });
});
