import { stat } from 'node:fs/promises';
import { ProviderFailedError } from '@holdfast/agent';
import { describe, expect, it } from 'vitest';
import { place } from '../store/__fixtures__/thread-bench.js';
import {
  type CodingBench,
  clockAt,
  codingBench,
  NATIVE,
  TOMBSTONE,
} from './__fixtures__/coding-bench.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');

async function readyBench(adapterId: typeof NATIVE | typeof TOMBSTONE) {
  const bench = await codingBench(adapterId);
  const { thread } = await bench.run(bench.job());
  const close = bench.job({ mode: 'close', expectedCheckpoint: thread?.checkpoint });
  bench.sessions.closes.length = 0;
  return { bench, close, thread };
}

const isGone = (bench: CodingBench) =>
  stat(bench.root).then(
    () => false,
    () => true,
  );

describe('a close', () => {
  it('archives natively in a new agent, claims nothing, and takes the place away', async () => {
    const { bench, close, thread } = await readyBench(NATIVE);
    const outcome = await bench.run(close);
    expect(outcome).toMatchObject({ outcome: 'closed', thread: { ...thread, state: 'CLOSED' } });
    expect(bench.sessions.closes[0]).toMatchObject({ archive: true, deadlineMs: 10_000 });
    expect(bench.sessions.userMessages()).toHaveLength(1);
    expect(await isGone(bench)).toBe(true);
    expect(await bench.run(close)).toEqual(outcome);
  });

  it('needs neither native binary nor bundle where a tombstone is all there is', async () => {
    const { bench, close } = await readyBench(TOMBSTONE);
    const repository = {
      ...close.coding.repository,
      artifactUri: `${bench.bundle.allowedPrefix}gone`,
    };
    const spec = { cli: { binary: '/nowhere/cli' }, git: '/nowhere/git' };
    const job = { ...close, coding: { ...close.coding, repository } };
    expect((await bench.run(job, { spec })).thread?.state).toBe('CLOSED');
    expect(bench.sessions.closes).toEqual([]);
    await expect(bench.run(bench.job())).rejects.toMatchObject({ kind: 'thread_closed' });
  });

  it.each([
    ['is refused by the CLI', () => Promise.reject(new TypeError('no'))],
    ['is not said to be done', () => false],
  ])(
    'whose archive %s is typed, changes no state and may be tried again',
    async (_what, onArchive) => {
      const { bench, close } = await readyBench(NATIVE);
      bench.sessions.onArchive = onArchive;
      await expect(bench.run(close)).rejects.toMatchObject({
        kind: 'thread_close_unproven',
        retry: 'same',
      });
      expect((await bench.threads.inspect(place))?.state).toBe('READY');
      expect(bench.sessions.closes.at(-1)?.archive).toBe(false);
      bench.sessions.onArchive = () => true;
      expect((await bench.run(close)).thread?.state).toBe('CLOSED');
    },
  );

  it('without time left is refused before anything, and stays possible', async () => {
    const { bench, close } = await readyBench(NATIVE);
    const before = await bench.bytes();
    const clock = clockAt(NOW);
    const run = bench.run(close, { clock, deadlineAt: NOW + 5_000 });
    await expect(run).rejects.toMatchObject({ kind: 'thread_close_unproven' });
    expect(await bench.bytes()).toBe(before);
    expect(bench.sessions.closes.filter((close) => close?.archive === true)).toEqual([]);
  });

  it('ends a failed thread as well', async () => {
    const { bench, thread } = await readyBench(NATIVE);
    bench.sessions.onStep = () => Promise.reject(new ProviderFailedError('overloaded', 'no'));
    const resume = bench.job({ mode: 'resume', expectedCheckpoint: thread?.checkpoint });
    await expect(bench.run(resume)).rejects.toMatchObject({ kind: 'thread_failed' });
    const close = bench.job({ mode: 'close', expectedCheckpoint: thread?.checkpoint });
    expect((await bench.run(close)).thread?.state).toBe('CLOSED');
  });
});

describe('a close after a turn', () => {
  it.each([NATIVE, TOMBSTONE] as const)(
    'of %s ends the thread with its turn',
    async (adapterId) => {
      const bench = await codingBench(adapterId);
      const job = bench.job({ closeAfterTurn: true });
      const outcome = await bench.run(job);
      expect(outcome).toMatchObject({ outcome: 'no-change', thread: { state: 'CLOSED' } });
      expect(await bench.run(job)).toEqual(outcome);
      expect(await isGone(bench)).toBe(true);
      expect(bench.sessions.closes.length).toBeGreaterThan(0);
    },
  );

  it('that is not proven never costs the result', async () => {
    const bench = await codingBench();
    bench.sessions.onArchive = () => Promise.reject(new TypeError('no'));
    const { outcome, thread } = await bench.run(bench.job({ closeAfterTurn: true }));
    expect([outcome, thread?.state, thread?.closeError]).toEqual([
      ...['no-change', 'READY'],
      expect.stringContaining('no'),
    ]);
    const close = bench.job({ mode: 'close', expectedCheckpoint: thread?.checkpoint });
    bench.sessions.onArchive = () => true;
    expect((await bench.run(close)).thread?.state).toBe('CLOSED');
  });

  it('in a nearly spent lease is skipped rather than the delivery', async () => {
    const bench = await codingBench();
    const clock = clockAt(NOW);
    const change = { clock, deadlineAt: () => NOW + 4_000 };
    const { thread } = await bench.run(bench.job({ closeAfterTurn: true }), change);
    expect(thread).toMatchObject({ state: 'READY', closeError: expect.stringContaining('time') });
    expect(bench.sessions.closes.filter((close) => close?.archive === true)).toEqual([]);
  });
});
