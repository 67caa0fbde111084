import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Job, JobEngine, JobView } from '../job-engine.js';
import { createGate, emptied, eventually, idsOf, listed, record } from './expectations.js';
import { HELD, handleShared, RAN, SHARED } from './hold-jobs.js';
import type { JobEngineCase, JobEngineSubject } from './job-engine-subject.js';

/** What an engine promises of processes that die, and of those that run beside each other. */
export const crashCases: readonly JobEngineCase[] = [
  {
    title: 'hands the job of a process that is killed to a running peer, with the attempt counted',
    prove: async (subject) => {
      const { engine, holder } = await heldElsewhere(subject);
      const runs = record(engine, HELD);
      const report = await engine.start();
      assert.deepEqual(report.queued, []);
      assert.deepEqual(
        report.left.map(({ id, reason }) => [id, reason]),
        [['one', 'live_owner']],
      );
      // Once it has begun a younger job, it has looked for the older one and found it held.
      await eventually('a younger job to be begun here', async () => {
        await engine.enqueue(HELD, randomUUID(), null);
        return runs.jobs.length > 0;
      });
      const isIt = ({ id }: Job) => id === 'one';
      assert.equal(runs.jobs.find(isIt), undefined);
      await holder.kill();
      const job = await eventually('the job to be taken over', () => runs.jobs.find(isIt));
      assert.deepEqual([job.attempt, job.payload], [2, 'payload']);
      await emptied(engine, HELD);
    },
  },
  {
    title: 'finds at the start what a killed process left, with the attempt counted',
    prove: async (subject) => {
      const { engine, holder } = await heldElsewhere(subject);
      await holder.kill();
      const runs = record(engine, HELD);
      const [found] = (await engine.start()).queued;
      assert.deepEqual([found?.id, found?.attempt, found?.state], ['one', 1, 'waiting']);
      assert.equal((await runs.reach(1))[0]?.attempt, 2);
    },
  },
  {
    title: 'parks a job that took its process with it as often as it may, without running it',
    prove: async (subject) => {
      const { engine, holder } = await heldElsewhere(subject);
      const runs = record(engine, HELD, undefined, { maxAttempts: 1 });
      await holder.kill();
      await engine.start();
      await listed(engine, { queue: HELD, id: 'one' }, (job) => job?.state === 'parked');
      assert.deepEqual(runs.jobs, []);
      assert.match((await engine.list(HELD))[0]?.reason ?? '', /1 times/);
    },
  },
  {
    title: 'runs each of 100 jobs once, though three engines want it',
    prove: async (subject) => {
      const engines = await Promise.all([1, 2, 3].map(() => subject.open()));
      const runs = engines.map((engine) => record(engine, 'work'));
      const [first, ...others] = engines;
      assert.ok(first);
      for (const id of numbered(50)) await first.enqueue('work', id, null);
      await Promise.all(engines.map((engine) => engine.start()));
      for (const id of numbered(100).slice(50)) await others[0]?.enqueue('work', id, null);
      await emptied(first, 'work');
      await Promise.all(engines.map((engine) => engine.stop()));
      const ran = runs.flatMap(({ jobs }) => idsOf(jobs));
      assert.deepEqual([...ran].sort(), [...numbered(100)].sort());
    },
  },
  {
    title: 'runs each of 100 jobs once, though three processes want it',
    prove: async (subject) => {
      await Promise.all([subject.spawnHolder(), subject.spawnHolder()]);
      const engine = await subject.open();
      handleShared(engine);
      await engine.start();
      for (const id of numbered(100)) await engine.enqueue(SHARED, id, null);
      await emptied(engine, SHARED);
      const ran = (await engine.list(RAN)).map(({ id }) => id.split('.')[0]);
      assert.deepEqual([...ran].sort(), [...numbered(100)].sort());
    },
  },
  {
    title:
      'reports everything it finds: what it takes over, oldest first, and what it leaves and why',
    prove: async (subject) => {
      const { engine: first } = await heldElsewhere(subject);
      await prepareLeftovers(first);
      await first.stop();
      await subject.damage('work', 'torn');
      const engine = await subject.open();
      record(engine, HELD);
      const runs = record(engine, 'work');
      const report = await engine.start();
      assert.deepEqual(idsOf(report.queued), ['old', 'new']);
      const left = report.left.map(({ queue, id, reason }) => `${queue} ${id} ${reason}`);
      assert.deepEqual([...left].sort(), [
        'held one live_owner',
        'unknown job no_handler',
        'work parked parked',
        'work postponed not_before',
        'work torn damaged',
      ]);
      for (const { detail } of report.left) assert.equal(typeof detail, 'string');
      assert.deepEqual(idsOf(await runs.reach(2)), ['old', 'new']);
      assert.deepEqual(idsOf(await engine.list('unknown')), ['job']);
    },
  },
  {
    title: 'sets a damaged job aside while it runs; its neighbours go on',
    prove: async (subject) => {
      const [engine, other] = [await subject.open(), await subject.open()];
      const gate = createGate();
      const act = async () => {
        await gate.passed;
        return { state: 'done' } as const;
      };
      const runs = record(engine, 'work', act, { concurrency: 1 });
      await engine.start();
      for (const id of ['one', 'torn', 'two']) await other.enqueue('work', id, null);
      await runs.reach(1);
      await subject.damage('work', 'torn');
      gate.open();
      await emptied(engine, 'work');
      assert.deepEqual(idsOf(runs.jobs), ['one', 'two']);
    },
  },
];

async function heldElsewhere(subject: JobEngineSubject) {
  const holder = await subject.spawnHolder();
  const engine = await subject.open();
  await engine.enqueue(HELD, 'one', 'payload');
  const isBegun = (job: JobView | undefined) => job?.state === 'running' && job.attempt === 1;
  await listed(engine, { queue: HELD, id: 'one' }, isBegun);
  return { engine, holder };
}

/** A queue with one job of every kind. */
async function prepareLeftovers(engine: JobEngine): Promise<void> {
  const notBefore = '2999-01-01T00:00:00.000Z';
  record(engine, 'work', ({ id }) => {
    if (id === 'parked') return { state: 'parked', reason: 'wait' };
    return { state: 'later', reason: 'a limit', notBefore };
  });
  for (const id of ['parked', 'postponed']) await engine.enqueue('work', id, null);
  await engine.start();
  await listed(engine, { queue: 'work', id: 'parked' }, (job) => job?.state === 'parked');
  await listed(engine, { queue: 'work', id: 'postponed' }, (job) => job?.reason === 'a limit');
  await engine.stop();
  for (const id of ['old', 'torn', 'new']) await engine.enqueue('work', id, null);
  await engine.enqueue('unknown', 'job', null);
}

function numbered(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `job-${index}`);
}
