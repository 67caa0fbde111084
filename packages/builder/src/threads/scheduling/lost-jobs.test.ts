import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { keys } from '../../persistence/keys.js';
import type { Store } from '../../persistence/store.js';
import { implementJob } from '../contract/__fixtures__/coding-jobs.js';
import type { WorkerRun } from '../execution/coding-workers.js';
import { jobRootOf } from '../worker/validate-spec.js';
import type { WorkerEnd } from '../worker/worker-spec.js';
import { createCodingBench, owner, plainJob, threadJob } from './__fixtures__/coding-bench.js';
import { outcomeOf } from './__fixtures__/fake-workers.js';
import { type Reach, takeThreadTurn } from './__fixtures__/thread-workers.js';

const REACHES: readonly Reach[] = ['nothing', 'claimed', 'turn_submitted', 'result_validated'];

/** A bench on which a host was lost in the middle of a job whose worker came so far. */
async function loseHost(reach: Reach, input = implementJob()) {
  const bench = await createCodingBench();
  const { workers, store } = bench;
  const lost = loseLeases();
  const { jobs, close } = await bench.start({ plant: lost.plant });
  let reached = (_run: WorkerRun) => {};
  const inTheMiddle = new Promise<WorkerRun>((resolve) => (reached = resolve));
  workers.behave = async (run) => {
    if (run.spec.turn.thread) await takeThreadTurn(store, run, reach);
    reached(run);
    return await new Promise((resolve) => {
      run.signal.addEventListener('abort', () => resolve({ class: 'unknown', reason: 'gone' }));
      lost.signal.addEventListener('abort', () =>
        resolve({ class: 'success', outcome: outcomeOf(run) }),
      );
    });
  };
  await jobs.submit({ jobId: 'one', input, owner });
  await inTheMiddle;
  await lost.lose();
  await close();
  return { ...bench, first: jobs };
}

/** A store whose leases others can take over, as those of a host that is gone or was frozen for long. */
function loseLeases() {
  const taken: (() => Promise<void>)[] = [];
  const gone = new AbortController();
  return {
    signal: gone.signal,
    plant: (store: Store): Partial<Store> => ({
      acquire: async (key, options) => {
        const found = await store.acquire(key, options);
        if (found.lease) taken.push(() => found.lease?.release() ?? Promise.resolve());
        return found;
      },
    }),
    lose: async () => {
      await Promise.all(taken.map((release) => release()));
      gone.abort();
    },
  };
}

describe('a job that was running on a host which is gone', () => {
  it.each(REACHES)(
    'is UNKNOWN with what its thread says where it came to %s, and is never run again',
    async (reach) => {
      const { start, workers } = await loseHost(reach);
      const { jobs } = await start();
      const job = await jobs.find('one');
      const phase = reach === 'nothing' ? 'none' : reach;
      const state = reach === 'nothing' ? 'none' : 'IN_FLIGHT';
      const expected = {
        kind: 'execution_unknown',
        retry: 'inspect',
        details: { evidence: { operationId: 'one', state, phase, lock: 'free' } },
      };
      await expect(job?.result()).rejects.toMatchObject(expected);
      expect(await job?.view()).toMatchObject({ state: 'UNKNOWN', attempt: 1 });
      await jobs.submit(threadJob('one'));
      await expect(job?.result()).rejects.toMatchObject(expected);
      expect(workers.operations).toEqual(['one']);
    },
  );

  it('is SUCCEEDED with the stored outcome where its thread committed it', async () => {
    const { start, workers } = await loseHost('committed');
    const { jobs } = await start();
    const job = await jobs.find('one');
    expect(await job?.result()).toMatchObject({
      outcome: 'implemented',
      operationId: 'one',
      thread: { state: 'READY' },
    });
    expect(await job?.view()).toMatchObject({ state: 'SUCCEEDED', attempt: 1 });
    expect(workers.operations).toEqual(['one']);
  });

  it('is CANCELLED with what was committed as evidence, where it was cancelled before it was lost', async () => {
    const { start, open } = await loseHost('committed');
    await (await open().jobs.find('one'))?.cancel('not wanted');
    const { jobs } = await start();
    const job = await jobs.find('one');
    await expect(job?.result()).rejects.toMatchObject({
      kind: 'job_cancelled',
      details: { evidence: { outcome: 'implemented', thread: { state: 'READY' } } },
    });
  });

  it('is UNKNOWN without a thread, leaves no folder, and does not stand in the way of the next', async () => {
    const { start, workers } = await loseHost('nothing', implementJob({ thread: undefined }));
    const { spec } = await workers.waitForRun('one');
    await mkdir(join(jobRootOf(spec), 'work'), { recursive: true });
    workers.behave = async (run) => ({ class: 'success', outcome: outcomeOf(run) });
    const { jobs } = await start();
    const next = await jobs.submit(plainJob('next'));
    await next.result();
    const job = await jobs.find('one');
    await expect(job?.result()).rejects.toMatchObject({ kind: 'execution_unknown' });
    expect(workers.operations).toEqual(['one', 'next']);
    expect(await readdir(spec.workspacesDir)).toEqual([]);
  });

  it('leaves no folder where its worker was killed and its host lives', async () => {
    const { start, workers } = await createCodingBench();
    workers.behave = async ({ spec }) => {
      await mkdir(join(jobRootOf(spec), 'work'), { recursive: true });
      return { class: 'unknown', reason: 'killed' };
    };
    const { jobs } = await start();
    const job = await jobs.submit(plainJob('one'));
    await expect(job.result()).rejects.toMatchObject({ kind: 'execution_unknown' });
    const { spec } = await workers.waitForRun('one');
    expect(await readdir(spec.workspacesDir)).toEqual([]);
  });

  it('is found by a builder that was there all the time', async () => {
    const { start, workers } = await createCodingBench();
    const lost = loseLeases();
    const doomed = await start({ plant: lost.plant });
    workers.hold();
    const job = await doomed.jobs.submit(threadJob('one'));
    await workers.waitForRun('one');
    const peer = await start();
    const wait = (await peer.jobs.find('one'))?.result();
    await lost.lose();
    await expect(wait).rejects.toMatchObject({ kind: 'execution_unknown' });
    expect((await job.view()).state).toBe('UNKNOWN');
  });
});

describe('a host that was frozen and thaws', () => {
  it('writes no end over the one that another host gave the job meanwhile', async () => {
    const { start, workers } = await createCodingBench();
    const lost = loseLeases();
    const frozen = await start({ plant: lost.plant });
    let thaw = (_end: WorkerEnd) => {};
    workers.behave = () => new Promise((resolve) => (thaw = resolve));
    const job = await frozen.jobs.submit(threadJob('one'));
    const run = await workers.waitForRun('one');
    await lost.lose();
    const peer = await start();
    await expect((await peer.jobs.find('one'))?.result()).rejects.toMatchObject({
      kind: 'execution_unknown',
    });
    const before = await job.view();
    thaw({ class: 'success', outcome: outcomeOf(run) });
    await frozen.close();
    expect(await job.view()).toEqual(before);
    expect(workers.operations).toEqual(['one']);
  });

  it('ends its worker as soon as it sees that the job is no longer its own', async () => {
    const { start, workers } = await createCodingBench();
    const lost = loseLeases();
    const frozen = await start({ plant: lost.plant });
    workers.hold();
    await frozen.jobs.submit(threadJob('one'));
    const run = await workers.waitForRun('one');
    await lost.lose();
    run.onProgress({ type: 'alive' });
    expect(run.signal.aborted).toBe(true);
  });
});

describe('a crash in the middle of an admission', () => {
  it('leaves nothing that is run, and nothing in the way of the same id', async () => {
    const { start, store, workers } = await createCodingBench();
    await store.write(keys.openCodingJob('personal', 'one'), { jobId: 'one' });
    await store.write(keys.codingSpec('one'), { half: true });
    const { jobs } = await start();
    expect(await store.list(keys.openCodingJobs('personal'))).toEqual([]);
    await (await jobs.submit(plainJob('one'))).result();
    expect(workers.operations).toEqual(['one']);
  });

  it('that wrote the job but queued nothing is made good at the next start', async () => {
    const { open, start, workers } = await createCodingBench();
    const { jobs, close } = open({
      plant: (store) => ({
        write: async (key, ...rest) => {
          if (key[0] === 'engine') throw new TypeError('the disk is full');
          return await store.write(key, ...rest);
        },
      }),
    });
    await expect(jobs.submit(plainJob('one'))).rejects.toThrow('the disk is full');
    await close();
    const { jobs: later } = await start();
    await (await later.find('one'))?.result();
    expect(workers.operations).toEqual(['one']);
  });
});

describe('a cancel whose process died right after it was written', () => {
  it('keeps the waiting job from ever being started', async () => {
    const { open, start, workers } = await createCodingBench();
    const { jobs, close } = open({
      plant: (store) => ({
        acquire: async (key, ...rest) => {
          if (key[0] === 'coding' && key[1] === 'leases') throw new TypeError('it died');
          return await store.acquire(key, ...rest);
        },
      }),
    });
    const job = await jobs.submit(plainJob('one'));
    await expect(job.cancel('not wanted')).rejects.toThrow('it died');
    await close();
    const { jobs: later } = await start();
    await expect((await later.find('one'))?.result()).rejects.toMatchObject({
      kind: 'job_cancelled',
    });
    expect(workers.runs).toEqual([]);
  });
});

describe('an end that the disk does not take', () => {
  it('is written as soon as that can be, and told only then', async () => {
    const { start, workers } = await createCodingBench();
    let failures = 0;
    const { jobs } = await start({
      plant: (store) => ({
        write: async (key, value, options) => {
          const isEnd = key[0] === 'coding' && JSON.stringify(value).includes('endDigest');
          if (isEnd) failures += 1;
          if (isEnd && failures === 1) throw new TypeError('the disk is full');
          return await store.write(key, value, options);
        },
      }),
    });
    const job = await jobs.submit(plainJob('one'));
    let isTold = false;
    const told = job.result().then(() => {
      isTold = true;
    });
    await vi.waitFor(() => expect(failures).toBe(1), { timeout: 20_000 });
    expect(isTold).toBe(false);
    expect(await job.view()).toMatchObject({ state: 'RUNNING' });
    await told;
    expect(workers.operations).toEqual(['one']);
  });
});

describe('one damaged job', () => {
  it('does not keep its neighbours from being run', async () => {
    const { open, start, store, workers } = await createCodingBench();
    const first = open();
    await first.jobs.submit(plainJob('bad'));
    await first.jobs.submit(plainJob('good'));
    await first.close();
    await store.write(keys.codingJob('bad'), { schemaVersion: 1, jobId: 'bad' });
    const { jobs } = await start();
    await (await jobs.find('good'))?.result();
    expect(workers.operations).toEqual(['good']);
    await expect(jobs.find('bad')).rejects.toMatchObject({ kind: 'state_unusable' });
  });
});
