import {
  ProviderFailedError,
  RateLimitedError,
  StaleHandleError,
  TimedOutError,
  UncertainDeliveryError,
} from '@holdfast/agent';
import { describe, expect, it } from 'vitest';
import { place } from '../store/__fixtures__/thread-bench.js';
import { type CodingBench, codingBench, type RunChange } from './__fixtures__/coding-bench.js';

async function runFailing(bench: CodingBench, error: Error, step: 'prepared' | 'accepted') {
  bench.sessions.onStep = (at) => {
    if (at === step) throw error;
  };
  const thrown = await bench.run(bench.job()).catch((failed: unknown) => failed);
  return { thrown, view: await bench.threads.inspect(place) };
}

describe('a claimed turn', () => {
  it('that the provider ended as failed fails its thread, without a word of what was said', async () => {
    const bench = await codingBench();
    const error = new ProviderFailedError('overloaded', 'secret words');
    const { thrown, view } = await runFailing(bench, error, 'accepted');
    expect(thrown).toMatchObject({ kind: 'thread_failed', retry: 'inspect' });
    expect(view).toMatchObject({
      state: 'FAILED',
      nativeId: expect.any(String),
      operations: [{ phase: 'failed', failure: 'provider_failed (overloaded)' }],
    });
    expect(JSON.stringify([thrown, view])).not.toContain('secret words');
    expect(bench.sessions.closes).toHaveLength(1);
  });

  it('that ran into a limit is failed too: the message is in the conversation', async () => {
    const bench = await codingBench();
    const resetAt = '2026-01-01T00:00:00.000Z';
    const error = new RateLimitedError('secret words', resetAt);
    const { thrown, view } = await runFailing(bench, error, 'accepted');
    expect(view?.state).toBe('FAILED');
    const waitsFor = { family: 'turn', kind: 'rate_limited', facts: { resetAt } };
    expect(thrown).toMatchObject({ details: { evidence: { waitsFor } } });
    expect(JSON.stringify(thrown)).not.toContain('secret words');
  });

  it.each([
    ['whose delivery is uncertain', uncertainDelivery()],
    ['that gave no sign in time', new TimedOutError({ awaiting: 'x', limitMs: 1, layer: 'y' })],
    ['that ended in a defect', new TypeError('a defect')],
  ])('%s stays in flight, and is uncertain', async (_what, error) => {
    const bench = await codingBench();
    const { thrown, view } = await runFailing(bench, error, 'accepted');
    expect(thrown).toMatchObject({ kind: 'thread_uncertain', retry: 'inspect' });
    expect(view).toMatchObject({ state: 'IN_FLIGHT', operations: [{ phase: 'turn_submitted' }] });
    const again = bench.run(bench.job());
    await expect(again).rejects.toMatchObject({ kind: 'thread_uncertain' });
    expect(bench.sessions.userMessages()).toHaveLength(1);
  });

  it('whose CLI could not be ended stays in flight, whatever the turn said', async () => {
    const bench = await codingBench();
    Object.defineProperty(bench.sessions, 'close', {
      value: () => Promise.reject(new TimedOutError({ awaiting: 'x', limitMs: 1, layer: 'y' })),
    });
    const error = new ProviderFailedError('overloaded', 'no');
    const { thrown, view } = await runFailing(bench, error, 'accepted');
    expect(thrown).toMatchObject({ kind: 'thread_uncertain' });
    expect(view?.state).toBe('IN_FLIGHT');
  });

  it('that another conversation answered is a substitution', async () => {
    const bench = await codingBench();
    const { thread } = await bench.run(bench.job());
    bench.sessions.onStep = (at) => {
      if (at === 'prepared') throw new StaleHandleError('memory', 'native_session_id');
    };
    const job = bench.job({ mode: 'resume', expectedCheckpoint: thread?.checkpoint });
    await expect(bench.run(job)).rejects.toMatchObject({ kind: 'thread_native_substituted' });
    expect((await bench.threads.inspect(place))?.state).toBe('FAILED');
  });

  it('whose result is rejected commits no checkpoint', async () => {
    const bench = await codingBench();
    bench.writes([{ path: '.github/workflows/ci.yml', content: 'x' }]);
    await expect(bench.run(bench.job())).rejects.toMatchObject({ kind: 'patch_refused' });
    const view = await bench.threads.inspect(place);
    expect(view).toMatchObject({ state: 'FAILED', operations: [{ failure: 'patch_refused' }] });
    expect(view?.checkpoint).toBeUndefined();
  });

  it('of a job without a directive ends with the error of the agent', async () => {
    const bench = await codingBench();
    const error = new ProviderFailedError('overloaded', 'no');
    bench.sessions.onStep = () => Promise.reject(error);
    await expect(bench.run(bench.job('ephemeral'))).rejects.toBe(error);
  });
});

describe('a cancel', () => {
  it('after the claim interrupts the turn and fails the thread with evidence', async () => {
    const bench = await codingBench();
    const cancel = new AbortController();
    bench.sessions.onStep = (at) => {
      if (at === 'accepted') cancel.abort(new TypeError('the workflow was cancelled'));
    };
    const run = bench.run(bench.job(), { signal: cancel.signal });
    await expect(run).rejects.toMatchObject({ kind: 'thread_failed' });
    expect(await bench.threads.inspect(place)).toMatchObject({
      state: 'FAILED',
      operations: [{ phase: 'failed', failure: 'turn_interrupted' }],
    });
  });

  it('that comes late delivers the committed checkpoint and allows a resume', async () => {
    const bench = await codingBench();
    for (const step of ['validate_result', 'commit', 'end_native']) {
      const cancel = new AbortController();
      const report: RunChange['report'] = (told) => {
        if (told.type === 'step' && told.step === step) cancel.abort();
      };
      const checkpoint = (await bench.threads.inspect(place))?.checkpoint;
      const mode = checkpoint === undefined ? 'new' : 'resume';
      const job = bench.job({ mode, expectedCheckpoint: checkpoint });
      const { thread } = await bench.run(job, { signal: cancel.signal, report });
      expect(thread).toMatchObject({ state: 'READY' });
      expect(thread?.checkpoint).not.toBe(checkpoint);
    }
    expect(bench.sessions.userMessages()).toHaveLength(3);
  });
});

function uncertainDelivery(): UncertainDeliveryError {
  const evidence = { what: 'x', journal: 'submitting', record: 'no_message', process: 'unknown' };
  return new UncertainDeliveryError(evidence);
}
