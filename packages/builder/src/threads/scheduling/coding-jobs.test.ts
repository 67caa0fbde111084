import { describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../engine/__fixtures__/manual-clock.js';
import { keys } from '../../persistence/keys.js';
import { CodingThreadError } from '../coding-thread-error.js';
import { implementJob } from '../contract/__fixtures__/coding-jobs.js';
import { describeWorkerError } from '../worker/worker-error.js';
import {
  adapterId,
  createCodingBench,
  owner,
  plainJob,
  threadJob,
} from './__fixtures__/coding-bench.js';
import { FakeWorkers, outcomeOf } from './__fixtures__/fake-workers.js';

describe('a coding job', () => {
  it('goes from PENDING over RUNNING to its end, each on disk', async () => {
    const { open, start, workers } = await createCodingBench();
    const first = open();
    const job = await first.jobs.submit(threadJob('one'));
    expect(await job.view()).toMatchObject({ state: 'PENDING', attempt: 0, acknowledged: false });
    await first.close();
    workers.hold();
    const { jobs } = await start();
    const run = await workers.waitForRun('one');
    expect(await job.view()).toMatchObject({ state: 'RUNNING', attempt: 1 });
    expect(run).toMatchObject({ fencingToken: 1 });
    await workers.letGo('one');
    const same = await jobs.find('one');
    expect(await same?.result()).toEqual(outcomeOf(run));
    expect(await same?.view()).toMatchObject({
      state: 'SUCCEEDED',
      end: { class: 'success', outcome: outcomeOf(run) },
    });
    expect(await jobs.list()).toEqual([await same?.view()]);
  });

  it('is the same one under the same id and input, before and after its end', async () => {
    const { start, workers } = await createCodingBench();
    const { jobs } = await start();
    workers.hold();
    await Promise.all([1, 2, 3].map(() => jobs.submit(threadJob('one'))));
    await workers.letGo('one');
    const outcome = await (await jobs.submit(threadJob('one'))).result();
    const again = await jobs.submit(threadJob('one', { timeoutMs: 5 }));
    expect(await again.result()).toEqual(outcome);
    expect(workers.operations).toEqual(['one']);
    expect(await jobs.list()).toHaveLength(1);
  });

  it('is an operation conflict under the same id with another input, owner or runner', async () => {
    const { start, workers } = await createCodingBench();
    const { jobs } = await start();
    await (await jobs.submit(plainJob('one'))).result();
    const processId = '019a0000-0000-7000-8000-0000000000bb';
    const others = [
      plainJob('one', { input: { ...implementJob({ thread: undefined }), text: 'Other.' } }),
      plainJob('one', { owner: { kind: 'workflow', processId } }),
      plainJob('one', { runnerId: 'personal' }),
    ];
    for (const other of others) {
      await expect(jobs.submit(other)).rejects.toMatchObject({
        kind: 'operation_conflict',
        retry: 'never',
      });
    }
    expect(workers.operations).toEqual(['one']);
  });

  it('is a duplicate dispatch while another job has its operation open, and not after that', async () => {
    const { start, workers } = await createCodingBench();
    const { jobs } = await start();
    workers.hold();
    const input = withOperation('op');
    const both = await Promise.allSettled([
      jobs.submit(threadJob('one', { input })),
      jobs.submit(threadJob('two', { input })),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = both.find(({ status }) => status === 'rejected');
    expect(refused).toMatchObject({ reason: { kind: 'operation_conflict' } });
    await workers.letGo('op');
    const [first] = await jobs.list();
    await (await jobs.find(first?.jobId ?? ''))?.result();
    workers.behave = new FakeWorkers().behave;
    const later = await jobs.submit(threadJob('three', { input }));
    await later.result();
    expect(workers.operations).toEqual(['op', 'op']);
  });

  it('rejects again and again with the typed error that its worker ended with, in every builder', async () => {
    const { start, workers } = await createCodingBench();
    const { jobs, close } = await start();
    const details = { sessionRef: 's', differingFields: ['nativeModel'], evidence: { a: 1 } };
    const error = new CodingThreadError('thread_binding_changed', 'It is bound.', details);
    workers.behave = async () => ({ class: 'failed', error: describeWorkerError(error) });
    const job = await jobs.submit(threadJob('one'));
    const expected = { kind: error.kind, retry: 'replace', message: error.message, details };
    await expect(job.result()).rejects.toMatchObject(expected);
    await expect(job.result()).rejects.toBeInstanceOf(CodingThreadError);
    expect(await job.view()).toMatchObject({ state: 'FAILED' });
    await close();
    const { jobs: later } = await start();
    await expect((await later.find('one'))?.result()).rejects.toMatchObject(expected);
  });

  it('releases its capacity when it fails, and when it is unknown', async () => {
    const { start, workers } = await createCodingBench();
    const { jobs } = await start();
    const { behave } = workers;
    workers.behave = async (run) => {
      if (run.spec.operationId === 'unknown') return { class: 'unknown', reason: 'it is gone' };
      if (run.spec.operationId === 'broken') throw new TypeError('a defect');
      return await behave(run);
    };
    const unknown = await jobs.submit(plainJob('unknown'));
    const broken = await jobs.submit(plainJob('broken'));
    const good = await jobs.submit(plainJob('good'));
    await good.result();
    await expect(unknown.result()).rejects.toMatchObject({
      kind: 'execution_unknown',
      retry: 'inspect',
    });
    await expect(broken.result()).rejects.toMatchObject({
      kind: 'execution_unknown',
      message: expect.stringContaining('a defect'),
    });
    expect(workers.operations).toEqual(['unknown', 'broken', 'good']);
  });

  it('ends no wait but its own: a signal ends one, and a builder that closes ends the rest', async () => {
    const { start, workers } = await createCodingBench();
    const { jobs, close } = await start();
    workers.hold();
    const job = await jobs.submit(plainJob('one'));
    await workers.waitForRun('one');
    const stop = new AbortController();
    const impatient = job.result({ signal: stop.signal });
    stop.abort(new TypeError('enough'));
    await expect(impatient).rejects.toThrow('enough');
    const patient = job.result();
    await workers.letGo('one');
    await patient;
    const waiting = await jobs.submit(plainJob('two'));
    const left = waiting.result();
    left.catch(() => {});
    await workers.letGo('two');
    await close();
    await expect(left).resolves.toMatchObject({ operationId: 'two' });
  });
});

describe('an end', () => {
  it('is replayed exactly until it is acknowledged, and kept for 30 days more', async () => {
    const { start, store } = await createCodingBench();
    const clock = new ManualClock();
    const { jobs } = await start({ clock });
    const job = await jobs.submit(plainJob('one'));
    const outcome = await passWhile(clock, job.result());
    // Until its host has let go of it, nothing is shrunk in any case.
    const lease = keys.codingJobLease('one');
    const isFree = async () => (await store.observe(lease)).state === 'free';
    await vi.waitUntil(isFree, { timeout: 20_000 });
    const day = 24 * 3_600_000;
    clock.wall += 400 * day;
    expect(await jobs.prune()).toBe(0);
    expect(await job.result()).toEqual(outcome);
    await passWhile(clock, job.acknowledge());
    await passWhile(clock, job.acknowledge());
    expect(await job.view()).toMatchObject({ acknowledged: true, state: 'SUCCEEDED' });
    expect(await job.result()).toEqual(outcome);
    expect(await store.list(['coding', 'specs'])).toEqual([]);
    expect(await jobs.prune()).toBe(1);
    expect(await jobs.prune()).toBe(0);
    await expect(job.result()).rejects.toMatchObject({ kind: 'execution_unknown' });
    await jobs.submit(plainJob('one'));
    expect(await job.view()).toMatchObject({ state: 'SUCCEEDED', attempt: 1 });
  });

  it('is kept for 30 days where it was acknowledged at once', async () => {
    const { start } = await createCodingBench();
    const clock = new ManualClock();
    const { jobs } = await start({ clock });
    const job = await jobs.submit(plainJob('one'));
    await passWhile(clock, job.result());
    await passWhile(clock, job.acknowledge());
    clock.wall += 29 * 24 * 3_600_000;
    expect(await jobs.prune()).toBe(0);
    await job.result();
  });

  it('is not acknowledged before it is there', async () => {
    const { open } = await createCodingBench();
    const job = await open().jobs.submit(plainJob('one'));
    await expect(job.acknowledge()).rejects.toThrow(TypeError);
  });

  it('that was edited on disk is not replayed', async () => {
    const { start, store } = await createCodingBench();
    const { jobs } = await start();
    const job = await jobs.submit(plainJob('one'));
    await job.result();
    const found = await store.read(['coding', 'jobs', 'one.json']);
    if (found.state !== 'present') throw new TypeError('it is gone');
    const text = JSON.stringify(found.value).replace('no-change', 'implemented');
    await store.write(['coding', 'jobs', 'one.json'], JSON.parse(text));
    await expect(job.result()).rejects.toMatchObject({ kind: 'state_unusable' });
    expect(await jobs.list()).toEqual([]);
  });
});

describe('a runner', () => {
  const ownerOf = (last: string) =>
    ({ kind: 'workflow', processId: `019a0000-0000-7000-8000-0000000000${last}` }) as const;

  it('runs as many jobs at once as it may, and no more', async () => {
    const { start, workers } = await createCodingBench();
    const { jobs } = await start({ runner: { concurrency: 2 } });
    workers.hold();
    const names = ['a', 'b', 'c', 'd'];
    const handles = await Promise.all(names.map((name) => jobs.submit(plainJob(name))));
    await vi.waitFor(() => expect(workers.operations).toHaveLength(2), 20_000);
    for (let ended = 0; ended < names.length; ended += 1) {
      await vi.waitFor(() => expect(workers.operations.length).toBeGreaterThan(ended), 20_000);
      await workers.letGo(workers.operations[ended] ?? '');
    }
    await Promise.all(handles.map((job) => job.result()));
    expect(workers.most).toBe(2);
    expect([...workers.operations].sort()).toEqual(names);
  });

  it('serves owners in turn: fewest running, then whose turn was longest ago, then first come', async () => {
    const { open, start, workers } = await createCodingBench();
    const first = open();
    const submit = (name: string, last: string) =>
      first.jobs.submit(plainJob(name, { owner: ownerOf(last) }));
    for (const name of ['a1', 'a2', 'a3']) await submit(name, 'a1');
    for (const name of ['b1', 'b2']) await submit(name, 'b1');
    await submit('c1', 'c1');
    await first.close();
    const { jobs } = await start();
    await Promise.all(
      ['a3', 'b2', 'c1'].map(async (name) => await (await jobs.find(name))?.result()),
    );
    expect(workers.operations).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('lets finish what runs when its builder closes, and begins nothing more', async () => {
    const { start, workers } = await createCodingBench();
    const { jobs, close } = await start();
    workers.hold();
    const first = await jobs.submit(plainJob('first'));
    const second = await jobs.submit(plainJob('second'));
    const run = await workers.waitForRun('first');
    const closed = close();
    await workers.letGo('first');
    await closed;
    expect(run.signal.aborted).toBe(false);
    expect(await first.view()).toMatchObject({ state: 'SUCCEEDED', attempt: 1 });
    expect(await second.view()).toMatchObject({ state: 'PENDING', attempt: 0 });
    const { jobs: later } = await start();
    await workers.letGo('second');
    await (await later.find('second'))?.result();
    expect(workers.operations).toEqual(['first', 'second']);
  });

  it('is one runner for all builders of a data directory', async () => {
    const { start, workers } = await createCodingBench();
    const builders = [await start(), await start()];
    const { behave } = workers;
    workers.behave = async (run) => {
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
      return await behave(run);
    };
    const names = Array.from({ length: 8 }, (_name, index) => `job-${index}`);
    const handles = await Promise.all(
      names.flatMap((name) => builders.map(({ jobs }) => jobs.submit(plainJob(name)))),
    );
    const outcomes = await Promise.all(handles.map((job) => job.result()));
    expect(outcomes).toHaveLength(16);
    expect([...workers.operations].sort()).toEqual(names);
    expect(workers.most).toBe(1);
  });

  it('that is gone leaves its jobs reported and as they are, for a builder that has it again', async () => {
    const { open, start, workers, binary } = await createCodingBench();
    const first = open();
    await first.jobs.submit(threadJob('one'));
    await first.close();
    const runner = { runnerId: 'other', adapter: adapterId, cli: { binary } };
    const without = open({ options: { runners: [runner] } });
    expect(await without.jobs.recover()).toMatchObject({
      open: [],
      left: [{ jobId: 'one', runnerId: 'personal', state: 'PENDING', reason: 'unknown_runner' }],
    });
    expect(workers.runs).toEqual([]);
    const { jobs } = await start();
    await (await jobs.find('one'))?.result();
    expect(await open().jobs.recover()).toEqual({ open: [], left: [] });
  });

  it('leaves nothing in any queue once all is done', async () => {
    const { start, store } = await createCodingBench();
    const { jobs, engine, close } = await start();
    await Promise.all(
      ['a', 'b'].map(async (name) => (await jobs.submit(plainJob(name, { owner }))).result()),
    );
    await vi.waitFor(
      async () => {
        expect(await engine.list('coding-personal')).toEqual([]);
        expect(await engine.list('coding-deadlines')).toEqual([]);
        expect(await store.list(['coding', 'open', 'personal'])).toEqual([]);
      },
      { timeout: 20_000 },
    );
    await close();
  });
});

function withOperation(operationId: string) {
  const { coding, ...rest } = implementJob();
  return { ...rest, coding: { ...coding, thread: { ...coding.thread, operationId } } };
}

/** Lets time pass until something is done. */
async function passWhile<Value>(clock: ManualClock, work: Promise<Value>): Promise<Value> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  const settled = work.then(over, over);
  while (!isOver) await Promise.race([settled, clock.pass(10)]);
  return await work;
}
