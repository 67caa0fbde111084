import type { TurnInspection } from '@holdfast/agent';
import { describe, expect, it } from 'vitest';
import { place } from '../store/__fixtures__/thread-bench.js';
import { type CodingBench, codingBench } from './__fixtures__/coding-bench.js';
import { type NativeTurnPlace, proveNativeTurn } from './prove-native-turn.js';

const seen: TurnInspection = {
  turn: 'none',
  journal: 'prepared',
  record: 'no_message',
  process: 'gone',
  isOwned: false,
};

/** A thread whose second turn was claimed by a process that died before it was submitted. */
async function benchInDoubt() {
  const bench = await codingBench();
  const { thread } = await bench.run(bench.job());
  const job = bench.job({ mode: 'resume', expectedCheckpoint: thread?.checkpoint });
  let isDead = false;
  const run = bench.run(job, {
    store: {
      ...bench.store,
      write: async (...args) => {
        if (isDead) throw new TypeError('it died');
        return await bench.store.write(...args);
      },
    },
    report: (told) => {
      isDead ||= told.type === 'step' && told.step === 'start_native';
      if (isDead) throw new TypeError('it died');
    },
  });
  await expect(run).rejects.toMatchObject({ kind: 'thread_uncertain' });
  return { bench, job };
}

function rollBack(bench: CodingBench, inspect: NativeTurnPlace['inspect']) {
  const { root } = bench;
  const prove: Parameters<typeof bench.threads.rollback>[0]['prove'] = (turn) =>
    proveNativeTurn(turn, { root, inspect });
  return bench.threads.rollback({ ...place, reason: 'it died', prove });
}

describe('a turn in doubt', () => {
  it('is taken back where the record proves that it was never taken in, and the same job runs again', async () => {
    const { bench, job } = await benchInDoubt();
    const asked: unknown[] = [];
    await rollBack(bench, async (handle, turnId, options) => {
      asked.push(handle.sessionId, turnId, options?.stateDir);
      return seen;
    });
    const view = await bench.threads.inspect(place);
    expect(view).toMatchObject({ state: 'READY', notes: [{ decision: 'rollback' }] });
    expect(asked).toEqual([
      place.sessionRef,
      expect.stringMatching(/^[0-9a-f-]{36}$/),
      `${bench.root}/state`,
    ]);
    expect((await bench.run(job)).thread?.state).toBe('READY');
    expect(bench.sessions.userMessages()).toHaveLength(2);
  });

  it.each(['taken', 'unknown'] as const)('that is %s stays in flight', async (turn) => {
    const { bench } = await benchInDoubt();
    const before = await bench.bytes();
    const rolled = rollBack(bench, async () => ({ ...seen, turn }));
    await expect(rolled).rejects.toMatchObject({ kind: 'thread_uncertain' });
    expect(await bench.bytes()).toBe(before);
  });

  it('is unknown where nothing is kept that would find it', async () => {
    const proof = await proveNativeTurn(
      { nativeId: 'native-1', turnId: 't' },
      { root: '/nowhere' },
    );
    expect(proof.turn).toBe('unknown');
  });
});
