import assert from 'node:assert/strict';
import { systemClock } from '@holdfast/agent';
import type { JobOutcome } from '../job-engine.js';
import { createGate, emptied, idsOf, listed, record } from './expectations.js';
import type { JobEngineCase } from './job-engine-subject.js';

const one = { queue: 'work', id: 'one' };

/** What an engine promises of a wake. */
export const wakeCases: readonly JobEngineCase[] = [
  {
    title:
      'runs a waiting job at once when it is woken, whatever it waits for, its attempts forgotten',
    prove: async (subject) => {
      const engine = await subject.open();
      const notBefore = new Date(systemClock.now() + 3_600_000).toISOString();
      const said: readonly JobOutcome[] = [
        { state: 'retry', reason: 'once' },
        { state: 'later', reason: 'a limit', notBefore },
        { state: 'done' },
      ];
      const runs = record(engine, 'work', () => said[runs.jobs.length - 1] ?? { state: 'done' });
      await engine.start();
      await engine.enqueue('work', 'one', null);
      await listed(engine, one, (job) => job?.reason === 'a limit');
      assert.equal(runs.jobs.length, 2);
      assert.equal(await engine.wake('work', 'one'), true);
      const jobs = await runs.reach(3);
      assert.deepEqual(
        jobs.map(({ attempt }) => attempt),
        [1, 2, 1],
      );
      await emptied(engine, 'work');
    },
  },
  {
    title: 'wakes a job for a peer that runs its queue',
    prove: async (subject) => {
      const [runner, other] = [await subject.open(), await subject.open()];
      const runs = record(runner, 'work', () =>
        runs.jobs.length === 1 ? { state: 'parked', reason: 'wait' } : { state: 'done' },
      );
      await runner.start();
      await other.enqueue('work', 'one', null);
      await listed(other, one, (job) => job?.state === 'parked');
      assert.equal(await other.wake('work', 'one'), true);
      await emptied(other, 'work');
      assert.equal(runs.jobs.length, 2);
    },
  },
  {
    title: 'keeps a wake that no process was there to see',
    prove: async (subject) => {
      const first = await subject.open();
      record(first, 'work', () => ({ state: 'parked', reason: 'wait' }));
      await first.start();
      await first.enqueue('work', 'one', null);
      await listed(first, one, (job) => job?.state === 'parked');
      await first.stop();
      assert.equal(await first.wake('work', 'one'), true);
      assert.equal((await first.list('work'))[0]?.state, 'waiting');
      const second = await subject.open();
      const runs = record(second, 'work');
      assert.deepEqual(idsOf((await second.start()).queued), ['one']);
      await runs.reach(1);
    },
  },
  ...(['done', 'parked', 'retry', 'later'] as const).map((state) => ({
    title: `runs a job once more that was woken while it ran, though it says ${state}`,
    prove: async (subject: Parameters<JobEngineCase['prove']>[0]) => {
      const [engine, other] = [await subject.open(), await subject.open()];
      const gate = createGate();
      const notBefore = new Date(systemClock.now() + 3_600_000).toISOString();
      const runs = record(engine, 'work', async () => {
        if (runs.jobs.length > 1) return { state: 'done' };
        await gate.passed;
        return { state, reason: 'before the wake', notBefore };
      });
      await engine.start();
      await engine.enqueue('work', 'one', 'payload');
      await runs.reach(1);
      assert.equal(await other.wake('work', 'one'), true);
      gate.open();
      const jobs = await runs.reach(2);
      assert.deepEqual([jobs[1]?.payload, jobs[1]?.attempt], ['payload', 1]);
      await emptied(engine, 'work');
      // One that was begun too often would be older than this one.
      await engine.enqueue('work', 'last', null);
      assert.deepEqual(idsOf(await runs.reach(3)), ['one', 'one', 'last']);
    },
  })),
  {
    title: 'says of a job that is not there that it cannot be woken',
    prove: async (subject) => {
      const engine = await subject.open();
      const runs = record(engine, 'work');
      await engine.start();
      assert.equal(await engine.wake('work', 'one'), false);
      await engine.enqueue('work', 'one', null);
      await runs.reach(1);
      await emptied(engine, 'work');
      assert.equal(await engine.wake('work', 'one'), false);
      assert.deepEqual(await engine.list('work'), []);
    },
  },
  {
    title: 'enqueues or wakes in one call, so that nothing that was just written is overlooked',
    prove: async (subject) => {
      const [engine, other] = [await subject.open(), await subject.open()];
      const inbox: number[] = [];
      const taken: number[] = [];
      record(engine, 'work', () => {
        taken.push(...inbox.splice(0));
        return { state: 'done' };
      });
      await engine.start();
      for (let message = 0; message < 30; message += 1) {
        inbox.push(message);
        const asked = message % 2 === 0 ? engine : other;
        await asked.enqueue('work', 'inbox', null, { wakes: true });
      }
      await emptied(other, 'work');
      assert.deepEqual(inbox, []);
      assert.equal(taken.length, 30);
    },
  },
];
