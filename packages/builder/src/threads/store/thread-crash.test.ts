import { describe, expect, it } from 'vitest';
import { temporaryStore } from '../../persistence/__fixtures__/temporary-store.js';
import type { Store } from '../../persistence/store.js';
import { isCodingThreadError } from '../coding-thread-error.js';
import { crashingStore } from './__fixtures__/crashing-store.js';
import { jobOf, place, runJob } from './__fixtures__/thread-bench.js';
import type { CloseOptions } from './close-effect.js';
import { createThreadStore } from './thread-store.js';

const archive: CloseOptions = { effect: { archive: 'native', run: async () => {} } };
const reason = 'the process died';

/** What a repeat of the same job, operation id and all, comes to. */
async function repeat(store: Store, job = jobOf({ operationId: 'op-1' })): Promise<string> {
  try {
    const { outcome, thread } = await runJob(store, job, archive);
    return `${outcome} ${thread?.state}`;
  } catch (error) {
    if (!isCodingThreadError(error)) throw error;
    const { phase = '' } = (error.details.evidence ?? {}) as { readonly phase?: string };
    return `${error.kind} ${phase}`.trim();
  }
}

/** Runs a job in a process that dies at one of its writes, and gives what another one finds. */
async function dieAt(at: number, when: 'before' | 'after', job = jobOf({ operationId: 'op-1' })) {
  const { store } = await temporaryStore();
  if (job.coding.thread?.mode !== 'new') await runJob(store, jobOf({ operationId: 'op-0' }));
  const expectedCheckpoint = (await createThreadStore(store).inspect(place))?.checkpoint;
  const thread = { ...job.coding.thread, expectedCheckpoint };
  const asked = jobOf(JSON.parse(JSON.stringify(thread)));
  await runJob(crashingStore(store, at, when), asked, archive).catch(() => {});
  const threads = createThreadStore(store);
  const view = await threads.inspect(place);
  const repeated = await repeat(store, asked);
  return { store, threads, view, repeated, asked };
}

const DONE = 'implemented CLOSED';

/** The writes of a first turn with a close after it. */
const firstTurn = [
  ['the secret', 1, DONE, DONE],
  ['the claim', 2, DONE, 'thread_uncertain claimed'],
  ['the native id', 3, 'thread_uncertain claimed', 'thread_uncertain native_started'],
  ['the turn', 4, 'thread_uncertain native_started', 'thread_uncertain turn_submitted'],
  ['the result', 5, 'thread_uncertain turn_submitted', 'thread_uncertain result_validated'],
  ['the commit', 6, 'thread_uncertain result_validated', 'implemented READY'],
  ['the closing', 7, 'implemented READY', 'implemented READY'],
  ['the end', 8, 'implemented READY', DONE],
] as const;

describe('a crash at a write of a turn', () => {
  it.each(firstTurn)('at %s: the same job afterwards', async (_what, at, before, after) => {
    expect((await dieAt(at, 'before')).repeated).toBe(before);
    expect((await dieAt(at, 'after')).repeated).toBe(after);
  });

  it('happens at none but those', async () => {
    const { store } = await temporaryStore();
    const counted = crashingStore(store, 0, 'before');
    expect((await runJob(counted, jobOf({}), archive)).thread?.state).toBe('CLOSED');
    expect(counted.written()).toBe(firstTurn.length);
  });

  it('loses no result that was validated', async () => {
    for (const [at, when] of [
      [5, 'after'],
      [6, 'before'],
      [6, 'after'],
      [7, 'after'],
    ] as const) {
      const { threads } = await dieAt(at, when);
      const adopted = await threads.adopt({ ...place, reason });
      expect(adopted).toMatchObject({ outcome: 'implemented', patch: {}, operationId: 'op-1' });
    }
  });

  it('leaves the native id where it can be found, from the moment it is known', async () => {
    for (const at of [4, 5, 6]) {
      expect((await dieAt(at, 'before')).view).toMatchObject({ nativeId: 'native-1' });
    }
  });

  it('during its close leaves a thread that can only be closed, and is then closed', async () => {
    const { store, view, repeated } = await dieAt(7, 'after');
    expect([view?.state, repeated]).toEqual(['CLOSING', 'implemented READY']);
    const expectedCheckpoint = view?.checkpoint;
    expect(await repeat(store, jobOf({ mode: 'resume', expectedCheckpoint }))).toBe(
      'thread_uncertain',
    );
    expect(await repeat(store, jobOf({ mode: 'close', expectedCheckpoint }))).toBe('closed CLOSED');
  });
});

describe('a crash at a write of a later turn', () => {
  const job = jobOf({ mode: 'resume', operationId: 'op-1' });

  it('keeps the last checkpoint and patch, and refuses what is not proven', async () => {
    for (const [at, when] of [
      [1, 'after'],
      [2, 'before'],
      [3, 'after'],
    ] as const) {
      const { view, repeated } = await dieAt(at, when, job);
      expect(repeated).toMatch(/^thread_uncertain/);
      expect(view).toMatchObject({ state: 'IN_FLIGHT', nativeId: 'native-1' });
      expect(view?.checkpoint && view.patchDigest).toBeTruthy();
    }
    expect((await dieAt(1, 'before', job)).repeated).toBe(DONE);
  });

  it('can be rolled back on proof, and the same job then runs', async () => {
    const { store, threads, asked } = await dieAt(2, 'after', job);
    const prove = async () => ({ turn: 'none', evidence: {} }) as const;
    await threads.rollback({ ...place, reason, prove });
    expect(await repeat(store, asked)).toBe(DONE);
  });
});

describe('a crash at a write of a close', () => {
  const job = jobOf({ mode: 'close', operationId: 'op-1' });

  it.each([1, 2])('leaves a thread that the same directive closes: write %i', async (at) => {
    for (const when of ['before', 'after'] as const) {
      expect((await dieAt(at, when, job)).repeated).toBe('closed CLOSED');
    }
  });
});
