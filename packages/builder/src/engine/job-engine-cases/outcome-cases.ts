import assert from 'node:assert/strict';
import { systemClock } from '@holdfast/agent';
import { createGate, emptied, eventually, idsOf, listed, record } from './expectations.js';
import type { JobEngineCase } from './job-engine-subject.js';

const one = { queue: 'work', id: 'one' };

/** What an engine promises of what a handler says. */
export const outcomeCases: readonly JobEngineCase[] = [
  {
    title: 'runs a job again after a back-off when it is to be retried, and counts',
    prove: async (subject) => {
      const engine = await subject.open();
      const begun: number[] = [];
      const runs = record(engine, 'work', ({ attempt }) => {
        begun.push(systemClock.monotonicMs());
        return attempt < 2 ? { state: 'retry', reason: 'not yet' } : { state: 'done' };
      });
      await engine.start();
      await engine.enqueue('work', 'one', null);
      await listed(engine, one, (job) => job?.reason === 'not yet');
      const [waiting] = await engine.list('work');
      assert.equal(waiting?.state, 'waiting');
      assert.equal(waiting?.attempt, 1);
      assert.ok(Date.parse(waiting?.notBefore ?? '') > Date.parse(waiting?.enqueuedAt ?? ''));
      const jobs = await runs.reach(2);
      assert.deepEqual(
        jobs.map(({ attempt }) => attempt),
        [1, 2],
      );
      const [first = 0, second = 0] = begun;
      assert.ok(second - first >= 900, 'the back-off was waited for');
      await emptied(engine, 'work');
    },
  },
  {
    title: 'takes a rejection for a retry and tells its message',
    prove: async (subject) => {
      const engine = await subject.open();
      record(engine, 'work', () => Promise.reject(new TypeError('it broke')));
      await engine.start();
      await engine.enqueue('work', 'one', null);
      await listed(engine, one, (job) => job?.reason === 'it broke' && job.state === 'waiting');
    },
  },
  {
    title: 'parks a job that failed as often as it may, and says so',
    prove: async (subject) => {
      const engine = await subject.open();
      const failing = () => ({ state: 'retry', reason: 'it broke' }) as const;
      const runs = record(engine, 'work', failing, { maxAttempts: 2 });
      await engine.start();
      await engine.enqueue('work', 'one', null);
      await listed(engine, one, (job) => job?.state === 'parked');
      assert.equal(runs.jobs.length, 2);
      const [parked] = await engine.list('work');
      assert.match(parked?.reason ?? '', /2 times.*it broke/);
    },
  },
  {
    title: 'runs a job again at once when it says so, behind what waits, and counts nothing',
    prove: async (subject) => {
      const engine = await subject.open();
      const runs = record(
        engine,
        'work',
        ({ id }) => {
          const isFirst = runs.jobs.filter((job) => job.id === id).length === 1;
          return isFirst && id === 'one' ? { state: 'later', reason: 'turn' } : { state: 'done' };
        },
        { concurrency: 1 },
      );
      for (const id of ['one', 'two']) await engine.enqueue('work', id, null);
      await engine.start();
      const jobs = await runs.reach(3);
      assert.deepEqual(idsOf(jobs), ['one', 'two', 'one']);
      assert.deepEqual(new Set(jobs.map(({ attempt }) => attempt)), new Set([1]));
    },
  },
  {
    title: 'begins a job not before the instant it named, in whichever process',
    prove: async (subject) => {
      const soon = () => new Date(systemClock.now() + 1_500).toISOString();
      const first = await subject.open();
      const notBefore = soon();
      record(first, 'work', () => ({ state: 'later', reason: 'a limit', notBefore }));
      await first.start();
      await first.enqueue('work', 'one', null);
      await listed(first, one, (job) => job?.notBefore === notBefore);
      await first.stop();
      const second = await subject.open();
      let begunAt = 0;
      const runs = record(second, 'work', () => {
        begunAt = systemClock.now();
        return { state: 'done' };
      });
      await second.start();
      assert.equal((await runs.reach(1))[0]?.attempt, 1);
      assert.ok(begunAt >= Date.parse(notBefore) - 5);
    },
  },
  {
    title: 'leaves a parked job alone until it is woken, also after a restart',
    prove: async (subject) => {
      const first = await subject.open();
      record(first, 'work', () => ({ state: 'parked', reason: 'sign in first' }));
      await first.start();
      await first.enqueue('work', 'one', { n: 1 });
      await listed(first, one, (job) => job?.state === 'parked');
      await first.stop();
      const second = await subject.open();
      const runs = record(second, 'work');
      const report = await second.start();
      assert.deepEqual(report.queued, []);
      assert.deepEqual(
        report.left.map(({ queue, id, reason }) => ({ queue, id, reason })),
        [{ queue: 'work', id: 'one', reason: 'parked' }],
      );
      await second.enqueue('work', 'two', null);
      await eventually('the other job', async () => (await second.list('work')).length === 1);
      assert.deepEqual(idsOf(runs.jobs), ['two']);
      assert.deepEqual(idsOf(await second.list('work')), ['one']);
      assert.equal(await second.wake('work', 'one'), true);
      const jobs = await runs.reach(2);
      assert.deepEqual(jobs[1]?.payload, { n: 1 });
    },
  },
  {
    title: 'shows what runs as running, to every engine',
    prove: async (subject) => {
      const [engine, other] = [await subject.open(), await subject.open()];
      const gate = createGate();
      const runs = record(engine, 'work', async () => {
        await gate.passed;
        return { state: 'done' };
      });
      await engine.start();
      await engine.enqueue('work', 'one', null);
      await runs.reach(1);
      for (const asked of [engine, other]) {
        const [job] = await asked.list('work');
        assert.deepEqual([job?.id, job?.state, job?.attempt], ['one', 'running', 1]);
      }
      gate.open();
      await emptied(other, 'work');
    },
  },
];
