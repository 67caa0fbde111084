import { describe, expect, it, vi } from 'vitest';
import { createJobEngine } from '../../engine/file-job-engine.js';
import type { CodingOutcome } from '../coding-job.js';
import { DIGEST } from '../contract/__fixtures__/coding-jobs.js';
import { adapterId, plainJob, threadJob } from './__fixtures__/coding-bench.js';
import {
  type Death,
  FollowedMemoryStore,
  MemoryDisk,
} from './__fixtures__/followed-memory-store.js';
import { createThreadWorkers } from './__fixtures__/thread-workers.js';
import type { CodingJobHandle } from './coding-jobs.js';
import { createCodingJobs } from './create-coding-jobs.js';

interface Life {
  readonly disk: MemoryDisk;
  readonly workers: ReturnType<typeof createThreadWorkers>;
  readonly death?: Death;
}

/** What was told in a life, by job. */
type Told = Map<string, CodingOutcome | string>;

/** One life of a builder: it asks for its three jobs, hears of their ends, and acknowledges them, or dies. */
async function live({ disk, workers, death }: Life) {
  const store = new FollowedMemoryStore(disk, death);
  const engine = createJobEngine(store, { pollMs: 10 });
  const closing = new AbortController();
  const runner = { runnerId: 'personal', adapter: adapterId, cli: { binary: '/gone/cli' } };
  const jobs = createCodingJobs({
    ...{ store, engine, workers, dataDir: '/data', closing: closing.signal },
    options: {
      ...{ host: 'host', origin: 'service', boundary: DIGEST, git: process.execPath },
      ...{ repositoryUriPrefix: 'file:///bundles/', runners: [runner] },
    },
  });
  const told: Told = new Map();
  const hear = async (job: CodingJobHandle) => {
    const end = await job.result().catch((error) => error.kind as string | undefined);
    if (end !== undefined) told.set(job.jobId, end);
    await job.acknowledge();
  };
  const work = async () => {
    await jobs.recover();
    await engine.start();
    const thread = await jobs.submit(threadJob('thread'));
    const plain = await jobs.submit(plainJob('plain'));
    const unwanted = await jobs.submit(plainJob('unwanted'));
    await unwanted.cancel('not wanted');
    for (const job of [thread, plain, unwanted]) await hear(job);
    await vi.waitFor(async () => {
      for (const queue of ['coding-personal', 'coding-deadlines']) {
        expect(await engine.list(queue)).toEqual([]);
      }
    }, 20_000);
  };
  const died = vi.waitUntil(() => store.isDead || closing.signal.aborted, {
    timeout: 60_000,
    interval: 2,
  });
  await Promise.race([work().catch(throwUnless(store)), died]);
  closing.abort();
  await engine.stop();
  const ends = new Map((store.isDead ? [] : await jobs.list()).map((view) => [view.jobId, view]));
  return { told, ends, store };
}

function throwUnless(store: FollowedMemoryStore) {
  return (error: unknown) => {
    if (!store.isDead) throw error;
  };
}

const PARTS = 12;

describe('a builder that dies', () => {
  it.each(Array.from({ length: PARTS }, (_part, index) => index))(
    'never runs a coding job twice and never loses an end, whichever write was its last (part %i)',
    async (part) => {
      const disk = new MemoryDisk();
      const workers = createThreadWorkers(new FollowedMemoryStore(disk));
      const whole = await live({ disk, workers });
      expect(whole.told.get('thread')).toMatchObject({ outcome: 'implemented' });
      expect(whole.told.get('plain')).toMatchObject({ outcome: 'no-change' });
      const total = whole.store.writes;
      expect(total).toBeGreaterThan(50);
      const writes = Array.from({ length: total + 4 }, (_write, index) => index + 1);
      for (const at of writes.filter((write) => write % PARTS === part)) {
        for (const when of ['before', 'after'] as const) await dieAndGoOn({ at, when });
      }
    },
    120_000,
  );
});

async function dieAndGoOn(death: Death): Promise<void> {
  const name = `write ${death.at}, ${death.when}`;
  const disk = new MemoryDisk();
  const workers = createThreadWorkers(new FollowedMemoryStore(disk));
  const first = await live({ disk, workers, death });
  disk.dropLeases();
  const second = await live({ disk, workers });
  const operations = workers.runs.map(({ spec }) => spec.operationId);
  expect(new Set(operations).size, name).toBe(operations.length);
  const thread = second.ends.get('thread');
  // It died between the start on disk and the worker: nobody else may say that nothing was begun.
  const end = operations.includes('thread') ? 'SUCCEEDED' : 'UNKNOWN';
  expect(thread, name).toMatchObject({ state: end, acknowledged: true });
  if (end === 'UNKNOWN') expect(thread?.end, name).toMatchObject({ evidence: { phase: 'none' } });
  // Its conversation was kept nowhere, so that nothing proves what became of it.
  expect(['SUCCEEDED', 'UNKNOWN'], name).toContain(second.ends.get('plain')?.state);
  expect(['SUCCEEDED', 'CANCELLED', 'UNKNOWN'], name).toContain(second.ends.get('unwanted')?.state);
  for (const [jobId, outcome] of first.told) {
    expect(second.told.get(jobId), `${name}: ${jobId}`).toEqual(outcome);
  }
}
