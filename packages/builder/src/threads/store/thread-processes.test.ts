import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryStore } from '../../persistence/__fixtures__/temporary-store.js';
import { jobOf, place, result, runJob, trusted } from './__fixtures__/thread-bench.js';
import { createThreadProcesses, type ThreadProcesses } from './__fixtures__/thread-process.js';
import { nameThread } from './thread-files.js';
import { createThreadStore } from './thread-store.js';

let processes: ThreadProcesses;

beforeAll(async () => {
  processes = await createThreadProcesses();
}, 120_000);

afterAll(() => processes[Symbol.asyncDispose]());

const request = { job: jobOf({ operationId: 'op-1' }), trusted };

describe('threads of several processes', () => {
  it('are claimed by one of those that race for one, and the others are refused as busy', async () => {
    const { dataDir, store } = await temporaryStore();
    const rivals = [1, 2, 3].map(() => processes.spawn(dataDir, request, result));
    await Promise.all(rivals.map((rival) => rival.hear()));
    for (const rival of rivals) rival.tell();
    const said = await Promise.all(rivals.map((rival) => rival.hear()));
    expect([...said].sort()).toEqual(['claimed', 'thread_busy', 'thread_busy']);
    const winner = rivals[said.indexOf('claimed')];
    winner?.tell();
    expect(await winner?.hear()).toMatch(/^committed /);
    expect(await createThreadStore(store).inspect(place)).toMatchObject({ state: 'READY' });
    expect((await runJob(store, request.job)).operationId).toBe('op-1');
  });

  it('are uncertain once their owner was killed, and free for a decision at once', async () => {
    const { dataDir, store } = await temporaryStore();
    const owner = processes.spawn(dataDir, request, result);
    await owner.hear();
    owner.tell();
    expect(await owner.hear()).toBe('claimed');
    owner.signal('SIGKILL');
    await owner.hear();
    await expect(runJob(store, request.job)).rejects.toMatchObject({
      kind: 'thread_uncertain',
      details: { evidence: { phase: 'turn_submitted' } },
    });
    await createThreadStore(store).abandon({ ...place, reason: 'its process was killed' });
  });

  it('cannot be committed by an owner that was frozen, lost its lease and thawed', async () => {
    const { dataDir, store } = await temporaryStore();
    const threads = createThreadStore(store);
    const owner = processes.spawn(dataDir, request, result);
    await owner.hear();
    owner.tell();
    expect(await owner.hear()).toBe('claimed');
    owner.signal('SIGSTOP');
    await expect(threads.abandon({ ...place, reason: 'x' })).rejects.toMatchObject({
      kind: 'thread_busy',
    });
    // Its time ran out: whoever judges that marks the lease as free.
    const leases = join(dataDir, 'thread-leases', nameThread(place));
    await writeFile(join(leases, '1.released'), '');
    await threads.abandon({ ...place, reason: 'its lease ran out' });
    owner.signal('SIGCONT');
    owner.tell();
    expect(await owner.hear()).toBe('thread_busy');
    expect(await threads.inspect(place)).toMatchObject({ state: 'ABANDONED' });
  });
});
