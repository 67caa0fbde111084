import { writeFile } from 'node:fs/promises';
import { StateUnusableError } from '@holdfast/agent';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../engine/__fixtures__/manual-clock.js';
import type { Store } from '../../persistence/store.js';
import { digestOfText } from '../contract/canonical-json.js';
import { bench, checkpointOf, expectRefusal } from './__fixtures__/bench.js';
import {
  jobOf,
  openFresh,
  place,
  result,
  runJob,
  takeTurn,
  tombstone,
  trusted,
} from './__fixtures__/thread-bench.js';
import { createThreadStore } from './thread-store.js';

const DAY_MS = 86_400_000;

/** A store whose disk is full at its n-th write alone. */
function fullAt(store: Store, at: number): Store {
  let writes = 0;
  return {
    ...store,
    write: async (...args) => {
      writes += 1;
      if (writes === at) throw new StateUnusableError('threads', 'full', 'no room is left');
      return await store.write(...args);
    },
  };
}

describe('a thread in trouble', () => {
  it('loses no validated result to a disk that is full at the commit', async () => {
    const { store, threads } = await bench();
    await expect(runJob(fullAt(store, 6), jobOf({ operationId: 'op-1' }))).rejects.toMatchObject({
      kind: 'state_unusable',
    });
    expect(await threads.inspect(place)).toMatchObject({
      state: 'IN_FLIGHT',
      operations: [{ phase: 'result_validated' }],
    });
    const adopted = await threads.adopt({ ...place, reason: 'there is room again' });
    expect(adopted).toMatchObject({ outcome: 'implemented', patch: result.outcome.patch });
    expect((await runJob(store, jobOf({ operationId: 'op-1' }))).thread).toEqual(adopted.thread);
  });

  it('claims nothing on a disk that is full, and the same job then runs', async () => {
    const { store, bytes } = await bench();
    const job = jobOf({ operationId: 'op-1' });
    await expect(runJob(fullAt(store, 2), job)).rejects.toMatchObject({ kind: 'state_unusable' });
    expect(await bytes()).toBe('absent');
    expect((await runJob(store, job)).operationId).toBe('op-1');
  });

  it('takes a torn record for none of its own, at whatever byte it is torn', async () => {
    const subject = await bench();
    await runJob(subject.store, jobOf({}));
    const whole = await subject.bytes();
    for (const share of [0.999, 0.9, 0.5, 0.1]) {
      await writeFile(subject.path, whole.slice(0, Math.floor(whole.length * share)));
      await expect(subject.threads.open({ job: jobOf({}), trusted })).rejects.toMatchObject({
        kind: 'thread_unavailable',
      });
      await writeFile(subject.path, whole);
    }
    await expectRefusal(subject, jobOf({}), { kind: 'thread_exists' });
  });

  it('goes on through a clock that jumps, forwards and back', async () => {
    const { store } = await bench();
    const clock = new ManualClock();
    const threads = createThreadStore(store, { clock });
    const seen: string[] = [];
    for (const jump of [0, -400 * DAY_MS, 800 * DAY_MS, -800 * DAY_MS]) {
      clock.wall += jump;
      const expectedCheckpoint = seen.at(-1);
      const mode = expectedCheckpoint === undefined ? 'new' : 'resume';
      await using thread = await openFresh(threads, jobOf({ mode, expectedCheckpoint }));
      seen.push((await takeTurn(thread)).thread?.checkpoint ?? '');
    }
    expect(new Set(seen).size).toBe(4);
    clock.wall = 0;
    const job = jobOf({ mode: 'close', expectedCheckpoint: seen.at(-1) });
    await using closing = await openFresh(threads, job);
    expect((await closing.close(tombstone)).thread?.state).toBe('CLOSED');
    // Of a time to come, as far as this clock can tell: nothing was closed long ago.
    clock.wall = -400 * DAY_MS;
    expect(await threads.bury()).toBe(0);
  });

  it('that lives through an upgrade is refused by the field that changed, and its work is replaced or kept', async () => {
    const subject = await bench();
    const { store, threads } = subject;
    const done = await runJob(store, jobOf({ operationId: 'op-1' }));
    const upgraded = { ...trusted, adapterContractDigest: digestOfText('the next version') };
    const expectedCheckpoint = await checkpointOf(store);
    for (const mode of ['resume', 'close'] as const) {
      const changed = {
        kind: 'thread_binding_changed',
        retry: 'replace',
        details: { differingFields: ['adapterContractDigest'] },
      };
      await expectRefusal(subject, jobOf({ mode, expectedCheckpoint }), changed, upgraded);
    }
    expect(await threads.adopt({ ...place, reason: 'to begin anew from' })).toEqual(done);
    const kept = jobOf({ mode: 'resume', expectedCheckpoint });
    expect((await runJob(store, kept)).outcome).toBe('implemented');
  });
});
