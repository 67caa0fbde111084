import { describe, expect, it, vi } from 'vitest';
import { CodingThreadError } from '../coding-thread-error.js';
import { createThreadStore } from '../store/thread-store.js';
import type { WorkerEnd } from '../worker/worker-spec.js';
import { patchOf, trustedBy } from './__fixtures__/scripted-jobs.js';
import { bench, endsOf } from './__fixtures__/stage-bench.js';

/** Long enough for a machine that is busy. */
const WAIT = { timeout: 20_000 };
const approve = [{ findings: [] }];

describe('a stage whose job has no known end', () => {
  it('replaces an implementer whose first turn is in doubt, and finishes', async () => {
    const { run, lines, jobs } = bench({
      implement: [{ lost: 'submitted' }, { patch: '1' }],
      review: approve,
    });
    const outcome = await run();
    expect(lines().slice(0, 3)).toEqual([
      'implement new',
      'implement new',
      'review new candidate 1',
    ]);
    expect(outcome).toMatchObject({ outcome: 'accepted', replacements: 1, remediations: 0 });
    expect(endsOf(outcome)).toEqual(['implement ABANDONED', 'implement CLOSED', 'review CLOSED']);
    expect(jobs.seen[1]?.input.text).toBe('Build it.');
  });

  it('replaces an implementer that is lost while it mends: the new one is given the accepted patch and the open findings', async () => {
    const { run, lines, jobs } = bench({
      implement: [
        { patch: '1' },
        { lost: 'submitted' },
        { patch: '2', message: '{"resolvedFindingIds":["f1"]}' },
      ],
      review: [{ findings: ['f1'] }, { findings: [] }],
    });
    const outcome = await run();
    expect(lines().slice(2, 5)).toEqual([
      'implement resume mend f1',
      'implement new',
      'review resume candidate 2 after f1',
    ]);
    const text = jobs.seen[3]?.input.text ?? '';
    for (const part of ['Build it.', patchOf('1').trim(), '"f1"', 'resolvedFindingIds']) {
      expect(text).toContain(part);
    }
    // The round was charged before it was lost; its replacement is not charged again.
    expect(outcome).toMatchObject({ outcome: 'accepted', replacements: 1, remediations: 1 });
  });

  it('replaces a reviewer that is lost: the new one is given the candidate and the review before', async () => {
    const { run, lines } = bench({
      implement: [{ patch: '1' }, { patch: '2', claims: ['f1'] }],
      review: [{ findings: ['f1'] }, { lost: 'claimed' }, { findings: [] }],
    });
    const outcome = await run();
    expect(lines().slice(3, 5)).toEqual([
      'review resume candidate 2 after f1',
      'review new candidate 2 after f1',
    ]);
    expect(outcome).toMatchObject({ outcome: 'accepted', replacements: 1 });
    expect(endsOf(outcome)).toContain('review ABANDONED');
  });

  it.each(['validated', 'committed'] as const)(
    'adopts a result that was %s, and runs no other turn for it',
    async (lost) => {
      const { run, lines } = bench({
        implement: [{ lost, result: { patch: '1' } }],
        review: [{ lost, result: { findings: [] } }],
      });
      expect(await run()).toMatchObject({ outcome: 'accepted', replacements: 0 });
      expect(lines()).toEqual([
        'implement new',
        'review new candidate 1',
        'implement close',
        'review close',
      ]);
    },
  );

  it('runs the same operation again where nothing was ever claimed', async () => {
    const { run, jobs } = bench({
      implement: [{ lost: 'opened' }, { patch: '1' }],
      review: approve,
    });
    expect(await run()).toMatchObject({ outcome: 'accepted', replacements: 0 });
    const [first, second] = jobs.seen.map(({ input }) => input.coding.thread);
    expect(second).toEqual(first);
    expect(jobs.seen[1]?.jobId).toBe(`${first?.operationId}.2`);
  });

  it('takes a claim back where the provider proves that the turn was not taken in', async () => {
    const script = {
      implement: [{ patch: '1' }, { lost: 'submitted' as const }, { patch: '2', claims: ['f1'] }],
      review: [{ findings: ['f1'] }, { findings: [] }],
    };
    const { run, lines } = bench(script, { proof: 'none' });
    expect(await run()).toMatchObject({ outcome: 'accepted', replacements: 0, remediations: 1 });
    expect(lines().slice(2, 4)).toEqual(['implement resume mend f1', 'implement resume mend f1']);
    const taken = bench(script, { proof: 'taken' });
    expect(await taken.run()).toMatchObject({ outcome: 'accepted', replacements: 1 });
  });

  it('gives up after as many replacements as are allowed', async () => {
    const { run, lines } = bench({ implement: [{ lost: 'claimed' }], review: [] });
    await expect(run({ over: { maxReplacements: 1 } })).rejects.toMatchObject({
      reason: 'replacements_exhausted',
      isFinal: true,
    });
    expect(lines()).toEqual(['implement new', 'implement new']);
  });

  it('tries what may be tried again after growing pauses, and is as it was when that is not enough', async () => {
    const error = new CodingThreadError('runner_unfit', 'Another binary stands here.');
    const acts = Array.from({ length: 6 }, () => ({ error }));
    const { run, clock, lines } = bench({
      implement: [...acts, { patch: '1' }],
      review: approve,
    });
    await expect(run()).rejects.toMatchObject({ reason: 'job_unsettled', isFinal: false });
    expect(clock.slept).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
    expect(await run()).toMatchObject({ outcome: 'accepted', replacements: 0 });
    expect(lines().filter((line) => line === 'implement new')).toHaveLength(7);
  });

  it('tells of a job that somebody else cancelled, and goes on under the same key', async () => {
    const { run, jobs, lines } = bench({ implement: [{ patch: '1' }], review: approve });
    jobs.onRun = async () => 'held';
    const ran = run();
    await vi.waitFor(() => expect(lines()).toEqual(['implement new']), WAIT);
    const jobId = jobs.seen[0]?.jobId ?? '';
    await (await jobs.find(jobId))?.cancel('a person');
    await expect(ran).rejects.toMatchObject({ reason: 'job_cancelled', isFinal: false });
    jobs.onRun = undefined;
    expect(await run()).toMatchObject({ outcome: 'accepted', replacements: 0 });
    expect(lines().slice(0, 2)).toEqual(['implement new', 'implement new']);
  });

  it('cancels the job that runs when it is stopped, and leaves it when it is let go', async () => {
    const { run, jobs, lines } = bench({ implement: [{ patch: '1' }], review: approve });
    jobs.onRun = async () => 'held';
    const letGo = new AbortController();
    const left = run({ letGo: letGo.signal });
    await vi.waitFor(() => expect(lines()).toEqual(['implement new']), WAIT);
    letGo.abort(new TypeError('closing'));
    await expect(left).rejects.toThrow('closing');
    const [job] = jobs.jobs.values();
    expect(job?.end).toBeUndefined();
    const stop = new AbortController();
    const stopped = run({ signal: stop.signal });
    stop.abort(new TypeError('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    expect(job?.end).toMatchObject({ class: 'cancelled' });
    expect(lines()).toEqual(['implement new']);
  });

  it('closes what it can: a thread that stays open costs the stage nothing, and is named', async () => {
    const error = new CodingThreadError('thread_close_unproven', 'The archive did not answer.');
    const { run, lines } = bench({
      implement: [{ patch: '1' }],
      review: approve,
      close: [{ error }, { error }, { error }, { closeFails: 0 }],
    });
    const outcome = await run();
    expect(outcome.outcome).toBe('accepted');
    expect(lines().slice(2)).toEqual([
      'implement close',
      'implement close',
      'implement close',
      'review close',
    ]);
    expect(outcome.threads[0]).toMatchObject({
      state: 'READY',
      receipt: { state: 'READY' },
      closeError: expect.stringContaining('did not answer'),
    });
    expect(outcome.threads[1]).toMatchObject({ state: 'CLOSED' });
  });

  it('knows a close whose answer was lost', async () => {
    const unknown: WorkerEnd = { class: 'unknown', reason: 'the host is gone' };
    const { run, jobs, store } = bench({
      implement: [{ patch: '1' }],
      review: approve,
    });
    jobs.onRun = async () => {
      const { input } = jobs.seen.at(-1) ?? {};
      if (input?.coding.thread?.mode !== 'close') return undefined;
      const { thread } = await createThreadStore(store).open({ job: input, trusted: trustedBy });
      await using opened = thread;
      await opened?.close({ effect: { archive: 'tombstone' } });
      return unknown;
    };
    expect(endsOf(await run())).toEqual(['implement CLOSED', 'review CLOSED']);
  });
});
