import assert from 'node:assert/strict';
import { createGate, emptied, idsOf, listed, record, refuses } from './expectations.js';
import type { JobEngineCase } from './job-engine-subject.js';

/** What an engine promises of jobs that are enqueued and begun. */
export const enqueueCases: readonly JobEngineCase[] = [
  {
    title: 'runs a job with its payload, in its first attempt, and then has it no more',
    prove: async (subject) => {
      const engine = await subject.open();
      const runs = record(engine, 'work');
      await engine.start();
      const payloads = [{ deep: [1, { x: null }] }, null, '', 'text', 0, false, []];
      for (const [index, payload] of payloads.entries()) {
        assert.equal(await engine.enqueue('work', `job.${index}~a_b-C`, payload), true);
      }
      const jobs = await runs.reach(payloads.length);
      assert.deepEqual(
        jobs.map(({ payload }) => payload),
        payloads,
      );
      assert.deepEqual(new Set(jobs.map(({ attempt }) => attempt)), new Set([1]));
      for (const job of jobs) assert.ok(!Number.isNaN(Date.parse(job.enqueuedAt)));
      await emptied(engine, 'work');
    },
  },
  {
    title: 'keeps a job from the moment enqueue resolves, for whoever starts later',
    prove: async (subject) => {
      const first = await subject.open();
      await first.enqueue('work', 'one', { kept: true });
      await first.stop();
      const second = await subject.open();
      const runs = record(second, 'work');
      assert.deepEqual(idsOf((await second.start()).queued), ['one']);
      const [job] = await runs.reach(1);
      assert.deepEqual(job?.payload, { kept: true });
    },
  },
  {
    title: 'takes the same id once: waiting, running or parked, but anew when it is done',
    prove: async (subject) => {
      const engine = await subject.open();
      assert.equal(await engine.enqueue('work', 'one', 1), true);
      assert.equal(await engine.enqueue('work', 'one', 2), false);
      const gate = createGate();
      const runs = record(engine, 'work', async ({ attempt }) => {
        await gate.passed;
        return { state: runs.jobs.length === 1 ? 'parked' : 'done', reason: `after ${attempt}` };
      });
      await engine.start();
      assert.equal((await runs.reach(1))[0]?.payload, 1);
      assert.equal(await engine.enqueue('work', 'one', 3), false);
      gate.open();
      await listed(engine, { queue: 'work', id: 'one' }, (job) => job?.state === 'parked');
      assert.equal(await engine.enqueue('work', 'one', 4), false);
      assert.equal((await engine.list('work'))[0]?.state, 'parked');
      await engine.wake('work', 'one');
      await emptied(engine, 'work');
      assert.equal(await engine.enqueue('work', 'one', 5), true);
      const jobs = await runs.reach(3);
      assert.deepEqual(
        jobs.map(({ payload }) => payload),
        [1, 1, 5],
      );
    },
  },
  {
    title: 'keeps the same id apart in two queues',
    prove: async (subject) => {
      const engine = await subject.open();
      const [left, right] = [record(engine, 'left'), record(engine, 'right')];
      await engine.enqueue('left', 'one', 'l');
      await engine.enqueue('right', 'one', 'r');
      await engine.start();
      assert.equal((await left.reach(1))[0]?.payload, 'l');
      assert.equal((await right.reach(1))[0]?.payload, 'r');
    },
  },
  {
    title: 'begins jobs in the order they were enqueued, also after a restart',
    prove: async (subject) => {
      const wanted = Array.from({ length: 20 }, (_, index) => `job-${(index * 7) % 20}`);
      const first = await subject.open();
      for (const id of wanted) await first.enqueue('work', id, null);
      assert.deepEqual(idsOf(await first.list('work')), wanted);
      await first.stop();
      const second = await subject.open();
      const runs = record(second, 'work', undefined, { concurrency: 1 });
      assert.deepEqual(idsOf((await second.start()).queued), wanted);
      assert.deepEqual(idsOf(await runs.reach(wanted.length)), wanted);
    },
  },
  {
    title: 'runs as many at once as a queue allows, and no more',
    prove: async (subject) => {
      const engine = await subject.open();
      const gate = createGate();
      let most = 0;
      let running = 0;
      const runs = record(
        engine,
        'work',
        async () => {
          running += 1;
          most = Math.max(most, running);
          await gate.passed;
          running -= 1;
          return { state: 'done' };
        },
        { concurrency: 3 },
      );
      for (let index = 0; index < 8; index += 1) await engine.enqueue('work', `j${index}`, index);
      await engine.start();
      await runs.reach(3);
      gate.open();
      await runs.reach(8);
      assert.equal(most, 3);
    },
  },
  {
    title: 'takes a handler before the start and once a queue, and refuses what is no name',
    prove: async (subject) => {
      const engine = await subject.open();
      record(engine, 'work');
      await refuses(() => record(engine, 'work'));
      await refuses(() => record(engine, 'other', undefined, { concurrency: 0 }));
      await engine.start();
      await refuses(() => record(engine, 'late'));
      await refuses(() => engine.start());
      for (const id of ['', '..', 'a/b', '../../x', 'a b', 'x'.repeat(300), 'a\u0000']) {
        await refuses(() => engine.enqueue('work', id, null));
        await refuses(() => engine.enqueue(id, 'one', null));
      }
      assert.deepEqual(await engine.list('work'), []);
    },
  },
];
