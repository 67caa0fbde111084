import assert from 'node:assert/strict';
import { createGate, eventually, idsOf, record } from './expectations.js';
import type { JobEngineCase } from './job-engine-subject.js';

/** What an engine promises of its end. */
export const stopCases: readonly JobEngineCase[] = [
  {
    title: 'stops: begins nothing more, aborts what runs, waits for it and keeps every job',
    prove: async (subject) => {
      const engine = await subject.open();
      const gate = createGate();
      const act = async () => {
        await gate.passed;
        return { state: 'retry', reason: 'aborted' } as const;
      };
      const runs = record(engine, 'work', act, { concurrency: 1 });
      await engine.start();
      for (const id of ['one', 'two']) await engine.enqueue('work', id, null);
      await runs.reach(1);
      let isStopped = false;
      const stopped = engine.stop().then(() => {
        isStopped = true;
      });
      await eventually('the abort', () => runs.contexts[0]?.signal.aborted);
      assert.equal(isStopped, false);
      gate.open();
      await stopped;
      assert.deepEqual(idsOf(runs.jobs), ['one']);
      const kept = await engine.list('work');
      assert.deepEqual(
        kept.map(({ id, state, attempt }) => [id, state, attempt]),
        [
          ['one', 'waiting', 0],
          ['two', 'waiting', 0],
        ],
      );
    },
  },
  {
    title: 'goes on after a stop with the same attempt, in another process',
    prove: async (subject) => {
      const first = await subject.open();
      const runs = record(first, 'work', async (_job, { signal }) => {
        await eventually('the abort', () => signal.aborted);
        throw signal.reason;
      });
      await first.start();
      await first.enqueue('work', 'one', null);
      await runs.reach(1);
      await first.stop();
      const second = await subject.open();
      const again = record(second, 'work');
      assert.deepEqual(idsOf((await second.start()).queued), ['one']);
      assert.equal((await again.reach(1))[0]?.attempt, 1);
    },
  },
  {
    title: 'lets a job be done that finishes during the stop',
    prove: async (subject) => {
      const engine = await subject.open();
      const runs = record(engine, 'work', async (_job, { signal }) => {
        await eventually('the abort', () => signal.aborted);
        return { state: 'done' };
      });
      await engine.start();
      await engine.enqueue('work', 'one', null);
      await runs.reach(1);
      await engine.stop();
      await engine.stop();
      assert.deepEqual(await engine.list('work'), []);
    },
  },
];
