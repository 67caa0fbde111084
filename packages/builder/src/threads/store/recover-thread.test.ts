import { describe, expect, it } from 'vitest';
import { CHECKPOINT } from '../contract/__fixtures__/coding-jobs.js';
import { bench, checkpointOf, expectRefusal } from './__fixtures__/bench.js';
import { jobOf, openFresh, place, result, runJob } from './__fixtures__/thread-bench.js';

describe('recovering a thread', () => {
  const reason = 'the receipt was lost';

  it('adopts a committed outcome whose receipt was lost, and a validated result', async () => {
    const subject = await bench();
    const { store, threads } = subject;
    const done = await runJob(store, jobOf({}));
    const before = await subject.bytes();
    expect(await threads.adopt({ ...place, reason })).toEqual(done);
    expect(await subject.bytes()).toBe(before);
    const resume = { mode: 'resume', expectedCheckpoint: done.thread?.checkpoint } as const;
    const thread = await openFresh(threads, jobOf({ ...resume, operationId: 'op-2' }));
    await thread.claim();
    await expect(threads.adopt({ ...place, reason })).rejects.toMatchObject({
      kind: 'thread_busy',
    });
    await thread.noteNative('native-1');
    await thread.noteTurn();
    await thread.noteResult(result);
    await thread[Symbol.asyncDispose]();
    const adopted = await threads.adopt({ ...place, reason });
    expect(adopted).toMatchObject({ operationId: 'op-2', thread: { state: 'READY' } });
    expect(await threads.inspect(place)).toMatchObject({
      state: 'READY',
      checkpoint: adopted.thread?.checkpoint,
      notes: [{ decision: 'adopt', reason }],
    });
  });

  it('adopts nothing that was not validated', async () => {
    const subject = await bench();
    const thread = await openFresh(subject.threads, jobOf({}));
    await thread.claim();
    await thread.noteNative('native-1');
    await thread.noteTurn();
    await thread[Symbol.asyncDispose]();
    const before = await subject.bytes();
    await expect(subject.threads.adopt({ ...place, reason })).rejects.toMatchObject({
      kind: 'thread_uncertain',
      details: { evidence: { phase: 'turn_submitted' } },
    });
    expect(await subject.bytes()).toBe(before);
  });

  it('abandons a thread, and burns its reference', async () => {
    const subject = await bench();
    const thread = await openFresh(subject.threads, jobOf({}));
    await thread.claim();
    await thread[Symbol.asyncDispose]();
    await subject.threads.abandon({ ...place, reason });
    for (const mode of ['new', 'resume', 'close'] as const) {
      const expectedCheckpoint = mode === 'new' ? undefined : CHECKPOINT;
      const job = jobOf({ mode, expectedCheckpoint });
      await expectRefusal(subject, job, { kind: 'thread_abandoned', retry: 'replace' });
    }
  });

  it('rolls a claim back only on proof that no turn was taken in', async () => {
    const subject = await bench();
    const { store, threads } = subject;
    await runJob(store, jobOf({}));
    const expectedCheckpoint = await checkpointOf(store);
    const job = jobOf({ mode: 'resume', expectedCheckpoint, operationId: 'op-2' });
    const thread = await openFresh(threads, job);
    await thread.claim();
    await thread.noteNative('native-1');
    await thread.noteTurn('turn-2');
    await thread[Symbol.asyncDispose]();
    const before = await subject.bytes();
    for (const turn of ['taken', 'unknown'] as const) {
      const prove = async () => ({ turn, evidence: null });
      await expect(threads.rollback({ ...place, reason, prove })).rejects.toMatchObject({
        kind: 'thread_uncertain',
      });
    }
    expect(await subject.bytes()).toBe(before);
    const asked: unknown[] = [];
    const prove = async (turn: unknown) => {
      asked.push(turn);
      return { turn: 'none', evidence: { turns: 1 } } as const;
    };
    await threads.rollback({ ...place, reason, prove });
    const { adapterState } = result;
    expect(asked).toEqual([{ nativeId: 'native-1', turnId: 'turn-2', adapterState }]);
    expect((await runJob(store, job)).operationId).toBe('op-2');
  });
});
