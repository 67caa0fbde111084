import assert from 'node:assert/strict';
import { createGate, emptied, eventually, idsOf, listed, record } from './expectations.js';
import { HELD, LOST } from './hold-jobs.js';
import type { JobEngineCase } from './job-engine-subject.js';

/** What an engine promises of a cancel. */
export const cancelCases: readonly JobEngineCase[] = [
  {
    title: 'takes away a job that waits or is parked, and never runs it',
    prove: async (subject) => {
      const engine = await subject.open();
      const runs = record(engine, 'work', ({ id }) => ({
        state: id === 'parked' && runs.jobs.length === 1 ? 'parked' : 'done',
        reason: 'wait',
      }));
      await engine.enqueue('work', 'waiting', null);
      await engine.cancel('work', 'waiting');
      await engine.start();
      await engine.enqueue('work', 'parked', null);
      await listed(engine, { queue: 'work', id: 'parked' }, (job) => job?.state === 'parked');
      await engine.cancel('work', 'parked');
      assert.equal(await engine.wake('work', 'parked'), false);
      assert.deepEqual(await engine.list('work'), []);
      await engine.enqueue('work', 'last', null);
      await runs.reach(2);
      assert.deepEqual(idsOf(runs.jobs), ['parked', 'last']);
      await engine.cancel('work', 'nobody');
    },
  },
  {
    title: 'aborts a job that runs here; nothing it says keeps it',
    prove: async (subject) => {
      const engine = await subject.open();
      const gate = createGate();
      const runs = record(engine, 'work', async () => {
        await gate.passed;
        return { state: 'parked', reason: 'I stay' };
      });
      await engine.start();
      await engine.enqueue('work', 'one', null);
      await runs.reach(1);
      const [context] = runs.contexts;
      assert.equal(context?.isCurrent(), true);
      assert.equal(context?.signal.aborted, false);
      await engine.cancel('work', 'one');
      assert.equal(context?.signal.aborted, true);
      assert.equal(context?.isCurrent(), false);
      assert.deepEqual(await engine.list('work'), []);
      gate.open();
      await engine.stop();
      assert.deepEqual(await engine.list('work'), []);
    },
  },
  {
    title: 'lets the owner in another process see that its job was cancelled',
    prove: async (subject) => {
      await subject.spawnHolder();
      const engine = await subject.open();
      await engine.enqueue(HELD, 'one', null);
      await listed(engine, { queue: HELD, id: 'one' }, (job) => job?.state === 'running');
      await engine.cancel(HELD, 'one');
      assert.deepEqual(await engine.list(HELD), []);
      await listed(engine, { queue: LOST, id: 'one' }, (job) => job !== undefined);
      assert.deepEqual(await engine.list(HELD), []);
    },
  },
  {
    title: 'takes the id of a cancelled job anew, as another job',
    prove: async (subject) => {
      const [engine, other] = [await subject.open(), await subject.open()];
      const runs = record(engine, 'work', async ({ payload }, { signal }) => {
        if (payload === 'second') return { state: 'done' };
        await eventually('the cancel', () => signal.aborted);
        return { state: 'retry', reason: 'too late' };
      });
      await engine.start();
      await engine.enqueue('work', 'one', 'first');
      await runs.reach(1);
      await other.cancel('work', 'one');
      assert.equal(await other.enqueue('work', 'one', 'second'), true);
      const jobs = await runs.reach(2);
      assert.deepEqual([jobs[1]?.payload, jobs[1]?.attempt], ['second', 1]);
      await emptied(other, 'work');
    },
  },
  {
    title: 'takes a job away for good that was cancelled while its owner died',
    prove: async (subject) => {
      const holder = await subject.spawnHolder();
      const engine = await subject.open();
      const runs = record(engine, HELD);
      await engine.enqueue(HELD, 'one', null);
      await listed(engine, { queue: HELD, id: 'one' }, (job) => job?.state === 'running');
      await Promise.all([holder.kill(), engine.cancel(HELD, 'one')]);
      assert.deepEqual(await engine.list(HELD), []);
      await engine.start();
      await engine.enqueue(HELD, 'two', null);
      await runs.reach(1);
      await emptied(engine, HELD);
      assert.deepEqual(idsOf(runs.jobs), ['two']);
    },
  },
];
