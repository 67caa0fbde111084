import { describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../engine/__fixtures__/manual-clock.js';
import { createCodingBench, plainJob, threadJob } from './__fixtures__/coding-bench.js';
import { outcomeOf } from './__fixtures__/fake-workers.js';

describe('the deadline of a coding job', () => {
  it('ends it while it waits, and never starts it', async () => {
    const { start, workers } = await createCodingBench();
    const clock = new ManualClock();
    const { jobs } = await start({ clock });
    workers.hold();
    const first = await jobs.submit(plainJob('first'));
    await clock.passUntil(20, () => workers.operations.length > 0);
    const second = await jobs.submit(plainJob('second', { timeoutMs: 60_000 }));
    const wait = second.result();
    wait.catch(() => {});
    await clock.passUntil(5_000, async () => (await second.view()).state !== 'PENDING');
    await expect(wait).rejects.toMatchObject({ kind: 'deadline_exceeded', retry: 'same' });
    expect(await second.view()).toMatchObject({ state: 'FAILED', attempt: 0 });
    expect((await first.view()).state).toBe('RUNNING');
    await workers.letGo('first');
    await clock.passUntil(20, async () => (await first.view()).state === 'SUCCEEDED');
    expect(workers.operations).toEqual(['first']);
  });

  it('is never passed by a lease that is renewed, which ends without a sign of life', async () => {
    const { start, workers } = await createCodingBench();
    const clock = new ManualClock();
    const { jobs } = await start({ clock, runner: { inactivityMs: 60_000 } });
    workers.hold();
    const job = await jobs.submit(plainJob('one', { timeoutMs: 200_000 }));
    await clock.passUntil(20, () => workers.operations.length > 0);
    const run = await workers.waitForRun('one');
    const end = Date.parse((await job.view()).deadlineAt);
    const silent = run.deadlineAt();
    expect(silent).toBeLessThan(end);
    await clock.pass(50_000);
    expect(run.deadlineAt()).toBe(silent);
    run.onProgress({ type: 'alive' });
    expect(run.deadlineAt()).toBe(clock.now() + 90_000);
    await clock.pass(80_000);
    run.onProgress({ type: 'step', step: 'run_turn' });
    expect(run.deadlineAt()).toBe(end);
  });

  it('counts time and not the clock on the wall', async () => {
    const { start, workers } = await createCodingBench();
    const clock = new ManualClock();
    const { jobs } = await start({ clock });
    workers.hold();
    await jobs.submit(plainJob('one', { timeoutMs: 100_000 }));
    await clock.passUntil(20, () => workers.operations.length > 0);
    const run = await workers.waitForRun('one');
    const left = run.deadlineAt() - clock.now();
    clock.wall += 3_600_000;
    expect(run.deadlineAt() - clock.now()).toBe(left);
  });

  it('that a worker ran into is a failure where nothing can have been taken in', async () => {
    const { start, workers } = await createCodingBench();
    const clock = new ManualClock();
    const { jobs } = await start({ clock });
    workers.hold();
    const job = await jobs.submit(threadJob('one', { timeoutMs: 100_000 }));
    await clock.passUntil(20, () => workers.operations.length > 0);
    await clock.pass(100_000);
    await workers.letGo('one', { class: 'cancelled', reason: 'its time is over' });
    await clock.passUntil(20, async () => (await job.view()).end !== undefined);
    await expect(job.result()).rejects.toMatchObject({ kind: 'deadline_exceeded' });
  });
});

describe('the cancel of a coding job', () => {
  it('reaches one that waits, which is never started', async () => {
    const { start, workers } = await createCodingBench();
    const { jobs } = await start();
    workers.hold();
    const first = await jobs.submit(plainJob('first'));
    const second = await jobs.submit(plainJob('second'));
    await workers.waitForRun('first');
    await second.cancel('not wanted');
    await expect(second.result()).rejects.toMatchObject({
      kind: 'job_cancelled',
      details: { evidence: { reason: 'not wanted' } },
    });
    expect(await second.view()).toMatchObject({ state: 'CANCELLED', attempt: 0 });
    await workers.letGo('first');
    await first.result();
    expect(workers.operations).toEqual(['first']);
  });

  it('reaches the process of one that runs, also from another builder', async () => {
    const { start, open, workers } = await createCodingBench();
    const { jobs } = await start();
    workers.hold();
    const job = await jobs.submit(plainJob('one'));
    const run = await workers.waitForRun('one');
    const other = await open().jobs.find('one');
    await other?.cancel('from elsewhere');
    await expect(other?.result()).rejects.toMatchObject({ kind: 'job_cancelled' });
    expect(run.signal.reason).toBe('from elsewhere');
    expect(await job.view()).toMatchObject({
      state: 'CANCELLED',
      end: { class: 'cancelled', reason: 'from elsewhere' },
    });
  });

  it('cannot be overridden by a success, which stays as evidence of what was committed', async () => {
    const { start, workers } = await createCodingBench();
    const { jobs } = await start();
    const thread = { sessionRef: 's', checkpoint: 'c', state: 'READY' } as const;
    workers.behave = async (run) => {
      await vi.waitFor(() => expect(run.signal.aborted).toBe(true), { timeout: 20_000 });
      return { class: 'success', outcome: { ...outcomeOf(run), thread } };
    };
    const job = await jobs.submit(threadJob('one'));
    await workers.waitForRun('one');
    await job.cancel('enough');
    await expect(job.result()).rejects.toMatchObject({
      kind: 'job_cancelled',
      details: { evidence: { thread } },
    });
    expect(await job.view()).toMatchObject({
      state: 'CANCELLED',
      end: { class: 'cancelled', reason: 'enough', outcome: { thread } },
    });
  });

  it('that comes too late changes nothing', async () => {
    const { start } = await createCodingBench();
    const { jobs } = await start();
    const job = await jobs.submit(plainJob('one'));
    const outcome = await job.result();
    await job.cancel('too late');
    expect(await job.result()).toEqual(outcome);
    expect(await job.view()).toMatchObject({ state: 'SUCCEEDED' });
  });

  it('of a worker that gave no answer leaves nothing in doubt where nothing was claimed', async () => {
    const { start, workers } = await createCodingBench();
    const { jobs } = await start();
    workers.behave = async (run) => {
      await vi.waitFor(() => expect(run.signal.aborted).toBe(true), { timeout: 20_000 });
      return { class: 'unknown', reason: 'it was killed' };
    };
    const job = await jobs.submit(threadJob('one'));
    await workers.waitForRun('one');
    await job.cancel('enough');
    await expect(job.result()).rejects.toMatchObject({ kind: 'job_cancelled' });
  });
});
