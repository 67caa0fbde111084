import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { systemClock } from '@holdfast/agent';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryStore } from '../../persistence/__fixtures__/temporary-store.js';
import { CHECKPOINT } from '../contract/__fixtures__/coding-jobs.js';
import { digestOfText } from '../contract/canonical-json.js';
import { bench, checkpointOf, expectRefusal } from './__fixtures__/bench.js';
import { jobOf, openFresh, place, result, runJob, trusted } from './__fixtures__/thread-bench.js';
import { createThreadProcesses, type ThreadProcesses } from './__fixtures__/thread-process.js';
import { nameThread } from './thread-files.js';
import { createThreadStore } from './thread-store.js';

const key = ['thread-leases', nameThread(place)];
const still = 'process.stdin.resume()';

let processes: ThreadProcesses;

beforeAll(async () => {
  processes = await createThreadProcesses();
}, 120_000);

afterAll(() => processes[Symbol.asyncDispose]());

/** A clock whose pauses take no time; each is counted, and may do something. */
function countPauses(onPause: (pauses: number) => Promise<unknown>) {
  const slept: number[] = [];
  const sleep = async (ms: number) => {
    slept.push(ms);
    await onPause(slept.length);
  };
  return { slept, clock: { ...systemClock, sleep } };
}

describe('the lock of a thread', () => {
  it('is let go at once by every open that is refused', async () => {
    const subject = await bench();
    const { store } = subject;
    await runJob(store, jobOf({ operationId: 'op-1' }));
    const resume = { mode: 'resume', expectedCheckpoint: await checkpointOf(store) } as const;
    const stranger = { ...trusted, adapterContractDigest: digestOfText('another') };
    for (const [job, kind, binding] of [
      [jobOf({}), 'thread_exists', trusted],
      [
        jobOf({ mode: 'resume', expectedCheckpoint: CHECKPOINT }),
        'thread_stale_checkpoint',
        trusted,
      ],
      [jobOf(resume), 'thread_binding_changed', stranger],
      [{ ...jobOf({ operationId: 'op-1' }), text: 'x' }, 'operation_conflict', trusted],
    ] as const) {
      await expectRefusal(subject, job, { kind }, binding);
      // Asked for once: whoever comes next has not to wait.
      const { lease } = await store.acquire(key);
      expect(lease, kind).toBeDefined();
      await lease?.release();
    }
  });

  it('bears another that holds it for a moment, and no longer than 100 ms', async () => {
    const { store } = await temporaryStore();
    const { lease } = await store.acquire(key);
    const brief = countPauses(async (pauses) => pauses === 7 && (await lease?.release()));
    await using thread = await openFresh(
      createThreadStore(store, { clock: brief.clock }),
      jobOf({}),
    );
    expect(thread.nativeId).toBeUndefined();
    expect(brief.slept).toHaveLength(7);
    const patient = countPauses(async () => {});
    const opening = openFresh(createThreadStore(store, { clock: patient.clock }), jobOf({}));
    await expect(opening).rejects.toMatchObject({ kind: 'thread_busy', retry: 'same' });
    expect(patient.slept.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(100);
  });

  it('is free once its owner lets go, though a child that inherited everything lives on', async () => {
    const { store } = await temporaryStore();
    const threads = createThreadStore(store);
    const thread = await openFresh(threads, jobOf({}));
    const child = spawn(process.execPath, ['-e', still], { stdio: ['pipe', 'inherit', 'inherit'] });
    onTestFinished(async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    });
    await once(child, 'spawn');
    await thread[Symbol.asyncDispose]();
    const { lease } = await store.acquire(key);
    expect([lease === undefined, child.exitCode]).toEqual([false, null]);
    await lease?.release();
  });

  it('is free once its owner is dead, though a child of it lives on', async () => {
    const { dataDir, store } = await temporaryStore();
    const owner = processes.spawn(dataDir, { job: jobOf({}), trusted }, result);
    await owner.hear();
    owner.tell('bear a child');
    const child = Number(await owner.hear());
    onTestFinished(() => void process.kill(child, 'SIGKILL'));
    expect(await owner.hear()).toBe('claimed');
    owner.signal('SIGKILL');
    await owner.hear();
    process.kill(child, 0);
    await createThreadStore(store).abandon({ ...place, reason: 'its owner is dead' });
    process.kill(child, 0);
  });
});
