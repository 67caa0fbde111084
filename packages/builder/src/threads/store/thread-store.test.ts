import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHECKPOINT, DIGEST, review } from '../contract/__fixtures__/coding-jobs.js';
import { digestOfText } from '../contract/canonical-json.js';
import { bench, checkpointOf, expectRefusal } from './__fixtures__/bench.js';
import {
  jobOf,
  openFresh,
  place,
  result,
  runJob,
  SESSION,
  takeTurn,
  tombstone,
  trusted,
} from './__fixtures__/thread-bench.js';
import { nameThread } from './thread-files.js';

describe('a coding thread', () => {
  it('goes from new over resume to close; its checkpoints survive a restart, reject what is stale, and closed stays closed', async () => {
    const subject = await bench();
    const { store } = subject;
    await expectRefusal(subject, jobOf({ mode: 'resume', expectedCheckpoint: CHECKPOINT }), {
      kind: 'thread_unavailable',
      retry: 'replace',
    });
    const first = await runJob(store, jobOf({}));
    const one = first.thread?.checkpoint ?? '';
    expect(first).toMatchObject({ outcome: 'implemented', thread: { state: 'READY' } });
    expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/);
    await expectRefusal(subject, jobOf({}), { kind: 'thread_exists', retry: 'inspect' });

    const second = await runJob(store, jobOf({ mode: 'resume', expectedCheckpoint: one }));
    const two = second.thread?.checkpoint ?? '';
    expect(two).not.toBe(one);
    await expectRefusal(subject, jobOf({ mode: 'resume', expectedCheckpoint: one }), {
      kind: 'thread_stale_checkpoint',
      details: { evidence: { isOneOperationBehind: true } },
    });
    await expectRefusal(subject, jobOf({ mode: 'close', expectedCheckpoint: CHECKPOINT }), {
      kind: 'thread_stale_checkpoint',
      details: { evidence: { isOneOperationBehind: false } },
    });

    const closed = await runJob(store, jobOf({ mode: 'close', expectedCheckpoint: two }));
    expect(closed.thread).toEqual({ sessionRef: SESSION, checkpoint: two, state: 'CLOSED' });
    for (const mode of ['new', 'resume', 'close'] as const) {
      const expectedCheckpoint = mode === 'new' ? undefined : two;
      await expectRefusal(subject, jobOf({ mode, expectedCheckpoint }), { kind: 'thread_closed' });
    }
  });

  it('is written by nothing before it is claimed, so that a preflight rejection leaves it untouched', async () => {
    const subject = await bench();
    await (await openFresh(subject.threads, jobOf({})))[Symbol.asyncDispose]();
    expect(await subject.bytes()).toBe('absent');
    await runJob(subject.store, jobOf({}));
    const before = await subject.bytes();
    const job = jobOf({ mode: 'resume', expectedCheckpoint: await checkpointOf(subject.store) });
    const opened = await openFresh(subject.threads, job);
    expect(opened).toMatchObject({
      nativeId: 'native-1',
      patch: result.outcome.patch,
      adapterState: { model: 'model-a' },
    });
    await opened[Symbol.asyncDispose]();
    expect(await subject.bytes()).toBe(before);
    expect((await runJob(subject.store, job)).outcome).toBe('implemented');
  });

  it('names the fields in which a binding differs', async () => {
    const subject = await bench();
    const { store } = subject;
    await runJob(store, jobOf({}));
    const expectedCheckpoint = await checkpointOf(store);
    const resume = { mode: 'resume', expectedCheckpoint } as const;
    const changed = [
      [jobOf({ ...resume, stageId: 'stage-B' }), {}, ['stageId']],
      [jobOf({ ...resume, runnerId: 'another' }), {}, ['runnerId']],
      [jobOf(resume, { baseRevision: 'd'.repeat(40) }), {}, ['baseRevision']],
      [jobOf(resume), { adapterContractDigest: digestOfText('') }, ['adapterContractDigest']],
      [jobOf(resume), { policy: { mode: 'managed' } }, ['policy']],
    ] as const;
    for (const [job, trust, differingFields] of changed) {
      const expected = { kind: 'thread_binding_changed', details: { differingFields } };
      await expectRefusal(subject, job, expected, { ...trusted, ...trust });
    }
    const elsewhere = { ...trusted, scope: digestOfText('another scope') };
    await expectRefusal(subject, jobOf(resume), { kind: 'thread_unavailable' }, elsewhere);
  });

  it('takes findings only about the patch of its checkpoint', async () => {
    const subject = await bench();
    const { store } = subject;
    await runJob(store, jobOf({}));
    const resume = { mode: 'resume', expectedCheckpoint: await checkpointOf(store) } as const;
    const mend = (artifactDigest: typeof DIGEST) =>
      jobOf(resume, { remediation: { priorReview: review({ artifactDigest }) } });
    await expectRefusal(subject, mend(DIGEST), { kind: 'remediation_mismatch', retry: 'never' });
    const { outcome } = await runJob(store, mend(result.outcome.patch.patchDigest));
    expect(outcome).toBe('implemented');
  });

  it('cannot silently resume or restart once interrupted', async () => {
    const subject = await bench();
    const thread = await openFresh(subject.threads, jobOf({ operationId: 'op-1' }));
    await thread.claim();
    await thread.noteNative('native-1');
    await thread[Symbol.asyncDispose]();
    const uncertain = {
      kind: 'thread_uncertain',
      details: { evidence: { operationId: 'op-1', phase: 'native_started' } },
    };
    for (const operationId of ['op-1', 'op-2', undefined]) {
      await expectRefusal(subject, jobOf({ operationId }), uncertain);
    }
    for (const mode of ['resume', 'close'] as const) {
      await expectRefusal(subject, jobOf({ mode, expectedCheckpoint: CHECKPOINT }), uncertain);
    }
    expect(await subject.threads.inspect(place)).toMatchObject({ nativeId: 'native-1' });
  });

  it('answers the same operation with the stored outcome, and refuses it with another input', async () => {
    const subject = await bench();
    const { store, threads } = subject;
    const first = jobOf({ operationId: 'op-1' });
    const done = await runJob(store, first);
    await expectRefusal(
      subject,
      { ...first, text: 'Another.' },
      { kind: 'operation_conflict', retry: 'never' },
    );
    const resume = { mode: 'resume', expectedCheckpoint: done.thread?.checkpoint } as const;
    const next = await runJob(store, jobOf({ ...resume, operationId: 'op-2' }));
    const before = await subject.bytes();
    expect((await threads.open({ job: first, trusted })).replayed).toEqual(done);
    const again = { job: jobOf({ ...resume, operationId: 'op-2' }), trusted };
    expect((await threads.open(again)).replayed).toEqual(next);
    expect(await subject.bytes()).toBe(before);
  });

  it('fails when another native conversation answers, and tells so', async () => {
    const subject = await bench();
    await runJob(subject.store, jobOf({}));
    const expectedCheckpoint = await checkpointOf(subject.store);
    const job = jobOf({ mode: 'resume', expectedCheckpoint });
    const thread = await openFresh(subject.threads, job);
    await thread.claim();
    await expect(thread.noteNative('native-2')).rejects.toMatchObject({
      kind: 'thread_native_substituted',
      retry: 'replace',
    });
    await thread[Symbol.asyncDispose]();
    await expectRefusal(subject, job, { kind: 'thread_failed' });
    const closed = await runJob(subject.store, jobOf({ mode: 'close', expectedCheckpoint }));
    expect(closed.thread?.state).toBe('CLOSED');
  });

  it('takes its steps in their order alone', async () => {
    const { threads } = await bench();
    await using thread = await openFresh(threads, jobOf({}));
    await expect(thread.noteNative('n')).rejects.toThrow(TypeError);
    await expect(thread.commit()).rejects.toThrow(TypeError);
    await expect(thread.close(tombstone)).rejects.toThrow(TypeError);
    await takeTurn(thread);
    await expect(thread.claim()).rejects.toThrow(TypeError);
    await expect(thread.fail('late')).rejects.toThrow(TypeError);
  });

  it('is busy while another holds its lock, and free as soon as a rejected open is over', async () => {
    const subject = await bench();
    const thread = await openFresh(subject.threads, jobOf({}));
    await expectRefusal(subject, jobOf({}), { kind: 'thread_busy', retry: 'same' });
    const releasing = openFresh(subject.threads, jobOf({}));
    await thread[Symbol.asyncDispose]();
    await (await releasing)[Symbol.asyncDispose]();
    await expectRefusal(subject, jobOf({ mode: 'resume', expectedCheckpoint: CHECKPOINT }), {
      kind: 'thread_unavailable',
    });
    await (await openFresh(subject.threads, jobOf({})))[Symbol.asyncDispose]();
  });
});

describe('the record of a thread', () => {
  it('is readable by its owner alone', async () => {
    const { store, path } = await bench();
    await runJob(store, jobOf({}));
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(path, '..'))).mode & 0o777).toBe(0o700);
  });

  it('is refused once it is edited, copied to another name, or has lost its secret', async () => {
    const subject = await bench();
    const { store, path } = subject;
    await runJob(store, jobOf({}));
    const whole = await subject.bytes();
    const unavailable = { kind: 'thread_unavailable', retry: 'replace' };
    for (const [from, to] of [
      ['READY', 'CLOSED'],
      ['native-1', 'native-2'],
      ['personal', 'stranger'],
    ] as const) {
      await writeFile(path, whole.replace(from, to));
      await expectRefusal(subject, jobOf({}), unavailable);
    }
    const other = jobOf({ sessionRef: CHECKPOINT });
    const copied = join(path, '..', nameThread({ ...place, sessionRef: CHECKPOINT }));
    await writeFile(copied, whole, { mode: 0o600 });
    await expectRefusal(subject, other, unavailable);
    await writeFile(path, whole);
    await expectRefusal(subject, jobOf({}), { kind: 'thread_exists' });
    await writeFile(join(path, '..', '..', 'thread-secret.json'), '{"schemaVersion":1}');
    await expectRefusal(subject, jobOf({}), unavailable);
  });
});
