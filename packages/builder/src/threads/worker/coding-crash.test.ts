import { describe, expect, it } from 'vitest';
import type { Store } from '../../persistence/store.js';
import { isCodingThreadError } from '../coding-thread-error.js';
import { place } from '../store/__fixtures__/thread-bench.js';
import { type CodingBench, codingBench, NATIVE, TOMBSTONE } from './__fixtures__/coding-bench.js';
import type { CodingStep } from './worker-spec.js';

/** The process ends here, as far as the code above can tell: from then on it writes nothing. */
class Crash extends Error {}

const DONE = 'no-change CLOSED';

/** The steps of a turn with a close after it, with the state and the phase after a crash right before the step's effect, and what the same job then comes to. */
const steps: readonly (readonly [CodingStep, string, string])[] = [
  ['validate_spec', 'before', DONE],
  ['open_thread', 'before', DONE],
  ['check_bundle', 'before', DONE],
  ['stage_bundle', 'before', DONE],
  ['rebuild_workspace', 'before', DONE],
  ['prepare_native', 'before', DONE],
  ['claim', 'before', DONE],
  ['start_native', 'IN_FLIGHT claimed', 'thread_uncertain'],
  ['run_turn', 'IN_FLIGHT native_started', 'thread_uncertain'],
  ['validate_result', 'IN_FLIGHT turn_submitted', 'thread_uncertain'],
  ['report_patch', 'IN_FLIGHT turn_submitted', 'thread_uncertain'],
  ['commit', 'IN_FLIGHT result_validated', 'thread_uncertain'],
  ['close_after_turn', 'READY committed', 'no-change READY'],
  ['end_native', 'CLOSED committed', DONE],
];

const adapters = [NATIVE, TOMBSTONE] as const;
const cases = adapters.flatMap((adapter) => steps.map((step) => [adapter, ...step] as const));

describe('a crash right before a step', () => {
  it.each(cases)(
    '%s, %s: %s, and the same job comes to %s',
    async (adapter, step, state, again) => {
      const bench = await codingBench(adapter);
      const job = bench.job({ closeAfterTurn: true });
      await dieAt(bench, job, step);
      const before = step === 'claim' ? [] : bench.sessions.userMessages();
      if (state === 'before') expect(before).toEqual([]);
      expect(await stateOf(bench)).toBe(state === 'before' ? 'absent' : state);
      expect(await repeat(bench, job)).toBe(again);
    },
  );

  it.each(steps.slice(0, 7))('%s of a resume leaves the thread byte for byte', async (step) => {
    const bench = await codingBench();
    const { thread } = await bench.run(bench.job());
    const before = await bench.bytes();
    const job = bench.job({ mode: 'resume', expectedCheckpoint: thread?.checkpoint });
    await dieAt(bench, job, step);
    expect(await bench.bytes()).toBe(before);
    expect(bench.sessions.userMessages()).toHaveLength(1);
    expect(await repeat(bench, job)).toBe('no-change READY');
  });

  it.each([
    ['prepare_native', 'READY committed'],
    ['close_after_turn', 'READY committed'],
    ['end_native', 'CLOSED committed'],
  ] as const)(
    '%s of a close leaves it %s, and the same close is done afterwards',
    async (step, state) => {
      const bench = await codingBench();
      const { thread } = await bench.run(bench.job());
      const job = bench.job({ mode: 'close', expectedCheckpoint: thread?.checkpoint });
      await dieAt(bench, job, step);
      expect(await stateOf(bench)).toBe(state);
      expect(await repeat(bench, job)).toBe('closed CLOSED');
    },
  );

  it('commit loses nothing: the validated result is adopted, patch and all', async () => {
    const bench = await codingBench();
    bench.writes([{ path: 'src/one.txt', content: 'two\n' }]);
    const job = bench.job();
    await dieAt(bench, job, 'commit');
    const { operationId } = job.coding.thread ?? {};
    const adopted = await bench.threads.adopt({ ...place, operationId, reason: 'it died' });
    expect(adopted).toMatchObject({ outcome: 'implemented', thread: { state: 'READY' } });
    expect(await bench.run(job)).toEqual(adopted);
    const next = bench.job({ mode: 'resume', expectedCheckpoint: adopted.thread?.checkpoint });
    expect((await bench.run(next)).patch?.patchDigest).toBe(adopted.patch?.patchDigest);
  });
});

type Job = ReturnType<CodingBench['job']>;

async function dieAt(bench: CodingBench, job: Job, step: CodingStep): Promise<void> {
  let isDead = false;
  const write: Store['write'] = async (...args) => {
    if (isDead) throw new Crash();
    return await bench.store.write(...args);
  };
  const run = bench.run(job, {
    store: { ...bench.store, write },
    report: (told) => {
      if (told.type !== 'step' || told.step !== step) return;
      isDead = true;
      throw new Crash();
    },
  });
  await expect(run).rejects.toThrow();
}

async function stateOf(bench: CodingBench): Promise<string> {
  const view = await bench.threads.inspect(place);
  return view ? `${view.state} ${view.operations.at(-1)?.phase}` : 'absent';
}

async function repeat(bench: CodingBench, job: Job): Promise<string> {
  try {
    const { outcome, thread } = await bench.run(job);
    return `${outcome} ${thread?.state}`;
  } catch (error) {
    if (isCodingThreadError(error)) return error.kind;
    throw error;
  }
}
