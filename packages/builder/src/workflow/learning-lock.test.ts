import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, waitUntil } from '@holdfast/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFileStore } from '../persistence/file-store.js';
import type { Store } from '../persistence/store.js';
import { inspectLearningLock, removeAbandonedTickets } from './inspect-learning-lock.js';
import { type LearningLockPlace, takeLearningLock } from './learning-lock.js';
import { listTicketNumbers } from './learning-ticket.js';

let dir = '';
let store: Store;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  store = createFileStore({ dataDir: dir });
});

afterEach(async () => {
  await store[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

const idOf = (step: string) => `1~main~${step}`;

interface Take {
  readonly signal?: AbortSignal;
  readonly closing?: AbortSignal;
  readonly onWaiting?: (place: LearningLockPlace) => void | Promise<void>;
}

function take(step: string, { signal = new AbortController().signal, ...more }: Take = {}) {
  return takeLearningLock(store, { name: 'default', executionId: idOf(step), signal, ...more });
}

const inLine = (steps: readonly string[]) =>
  waitUntil(
    async () => {
      const { waiting } = await inspectLearningLock(store, 'default');
      return waiting.map(({ executionId }) => executionId).join() === steps.map(idOf).join();
    },
    { awaiting: 'the line', deadlineMs: 20_000 },
  );

describe('takeLearningLock', () => {
  it('gives a free lock at once, and says who has it and since when', async () => {
    let waited = false;
    const lock = await take('a', {
      onWaiting: () => {
        waited = true;
      },
    });
    expect(waited).toBe(false);
    expect(lock.isCurrent()).toBe(true);
    const clock = { ...systemClock, now: () => systemClock.now() + 60_000 };
    const { state, holder, waiting } = await inspectLearningLock(store, 'default', clock);
    expect({ state, waiting }).toEqual({ state: 'held', waiting: [] });
    expect(holder).toMatchObject({ executionId: idOf('a'), pid: process.pid });
    expect(holder?.ageMs).toBeGreaterThanOrEqual(60_000);
    await lock[Symbol.asyncDispose]();
    expect(lock.isCurrent()).toBe(false);
    expect(await inspectLearningLock(store, 'default')).toEqual({ state: 'free', waiting: [] });
    expect(await listTicketNumbers(store, 'default')).toEqual([]);
  });

  it('serves those who wait in the order they came, and tells each its place', async () => {
    const first = await take('a');
    const order: string[] = [];
    const places: Record<string, LearningLockPlace> = {};
    const run = async (step: string) => {
      await using _lock = await take(step, {
        onWaiting: (place) => {
          places[step] ??= place;
        },
      });
      order.push(step);
    };
    const runs: Promise<void>[] = [];
    const steps = ['c', 'b', 'd'];
    for (const [index, step] of steps.entries()) {
      runs.push(run(step));
      await inLine(steps.slice(0, index + 1));
    }
    await first[Symbol.asyncDispose]();
    await Promise.all(runs);
    expect(order).toEqual(steps);
    expect(places).toEqual({
      c: { holder: idOf('a'), position: 1 },
      b: { holder: idOf('a'), position: 2 },
      d: { holder: idOf('a'), position: 3 },
    });
  });

  it('waits for onWaiting before it waits for the lock', async () => {
    const first = await take('a');
    let isOnDisk = false;
    const second = take('b', {
      onWaiting: async () => {
        // It would be free from here on.
        await first[Symbol.asyncDispose]();
        isOnDisk = true;
      },
    });
    await using lock = await second;
    expect(isOnDisk).toBe(true);
    expect(lock.isCurrent()).toBe(true);
  });

  it('takes no lock whose state could not be written, and keeps the place', async () => {
    await using _first = await take('a');
    const failed = take('b', { onWaiting: () => Promise.reject(new TypeError('full')) });
    await expect(failed).rejects.toThrow('full');
    const { waiting } = await inspectLearningLock(store, 'default');
    expect(waiting).toMatchObject([{ executionId: idOf('b'), isAlive: false }]);
  });

  it('gives the ticket of a stopped waiter back', async () => {
    await using _first = await take('a');
    const stop = new AbortController();
    const second = take('b', { signal: stop.signal });
    await inLine(['b']);
    stop.abort(new TypeError('stopped'));
    await expect(second).rejects.toThrow('stopped');
    await inLine([]);
  });

  it('keeps the ticket of a builder that closes, and gives the old place to who goes on', async () => {
    const first = await take('a');
    const closing = new AbortController();
    const second = take('b', { signal: closing.signal, closing: closing.signal });
    await inLine(['b']);
    const third = take('c');
    await inLine(['b', 'c']);
    closing.abort(new TypeError('closing'));
    await expect(second).rejects.toThrow('closing');
    const { waiting } = await inspectLearningLock(store, 'default');
    expect(waiting).toMatchObject([{ isAlive: false }, { isAlive: true }]);

    const again = take('b');
    await waitUntil(async () => (await inspectLearningLock(store, 'default')).waiting[0]?.isAlive, {
      awaiting: 'the old place',
      deadlineMs: 20_000,
    });
    await first[Symbol.asyncDispose]();
    const lock = await again;
    expect(lock.ticket.number).toBe(2);
    await inLine(['c']);
    await lock[Symbol.asyncDispose]();
    await (await third)[Symbol.asyncDispose]();
  });

  it('passes over a place that nobody is at, and keeps it while its execution owes something', async () => {
    const closing = new AbortController();
    const first = await take('a');
    const second = take('b', { signal: closing.signal, closing: closing.signal });
    await inLine(['b']);
    closing.abort();
    await second.catch(() => {});
    const third = take('c');
    await first[Symbol.asyncDispose]();
    await (await third)[Symbol.asyncDispose]();
    expect(await removeAbandonedTickets(store, 'default', async () => true)).toEqual([]);
    const removed = await removeAbandonedTickets(store, 'default', async () => false);
    expect(removed).toEqual([idOf('b')]);
    await inLine([]);
  });

  it('is one lock for each name', async () => {
    await using _first = await take('a');
    const signal = new AbortController().signal;
    const other = { name: 'other', executionId: idOf('b'), signal };
    await using lock = await takeLearningLock(store, other);
    expect(lock.isCurrent()).toBe(true);
  });
});
