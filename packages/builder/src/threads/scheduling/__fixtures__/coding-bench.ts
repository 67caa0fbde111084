import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, listCodingAdapters } from '@holdfast/agent';
import { onTestFinished } from 'vitest';
import { createJobEngine } from '../../../engine/file-job-engine.js';
import { createFileStore } from '../../../persistence/file-store.js';
import type { Store } from '../../../persistence/store.js';
import type { CodingOptions, CodingRunnerOptions } from '../../coding-options.js';
import { DIGEST, implementJob } from '../../contract/__fixtures__/coding-jobs.js';
import type { SubmitCodingJob } from '../coding-jobs.js';
import { createCodingJobs } from '../create-coding-jobs.js';
import { FakeWorkers } from './fake-workers.js';

/** Every process of these tests. */
export const PROCESS = '019a0000-0000-7000-8000-0000000000aa';
export const owner = { kind: 'workflow', processId: PROCESS } as const;

/** An adapter that some provider declares. */
export const [adapterId = ''] = listCodingAdapters().map(({ adapter }) => adapter.adapterId);

/** How a builder of a bench differs. */
export interface OpenOptions {
  readonly clock?: Clock;
  readonly options?: Partial<CodingOptions>;
  readonly runner?: Partial<CodingRunnerOptions>;
  readonly workers?: FakeWorkers;
  readonly plant?: (store: Store) => Partial<Store>;
}

/** Builders on one data directory, as far as coding jobs go. */
export async function createCodingBench() {
  const root = await mkdtemp(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const dataDir = join(root, 'data');
  const binary = join(root, 'cli');
  await installBinary(binary, 'one');
  const workers = new FakeWorkers();
  const store = createFileStore({ dataDir });
  const open = (how: OpenOptions = {}) => {
    const runner = { runnerId: 'personal', adapter: adapterId, cli: { binary }, ...how.runner };
    const planted = { ...store, ...how.plant?.(store) };
    const engine = createJobEngine(planted, { clock: how.clock, pollMs: 20 });
    const closing = new AbortController();
    const jobs = createCodingJobs({
      ...{ store: planted, engine, dataDir, clock: how.clock, closing: closing.signal },
      workers: how.workers ?? workers,
      options: {
        ...{ host: 'host', origin: 'service', boundary: DIGEST },
        repositoryUriPrefix: 'file:///bundles/',
        runners: [runner],
        ...how.options,
      },
    });
    const close = async () => {
      await engine.stop();
      closing.abort();
    };
    onTestFinished(async () => {
      workers.letAllGo();
      await close();
    });
    return { jobs, engine, close };
  };
  /** A builder that works. */
  const start = async (how: OpenOptions = {}) => {
    const builder = open(how);
    await builder.jobs.recover();
    await builder.engine.start();
    return builder;
  };
  return { dataDir, store, workers, binary, open, start };
}

/** Puts another CLI in its place. */
export async function installBinary(path: string, content: string): Promise<void> {
  await writeFile(path, content);
  await chmod(path, 0o755);
}

/** A job without a directive. */
export function plainJob(jobId: string, change: Partial<SubmitCodingJob> = {}): SubmitCodingJob {
  return { jobId, input: implementJob({ thread: undefined }), owner, ...change };
}

/** A job that begins a thread. */
export function threadJob(jobId: string, change: Partial<SubmitCodingJob> = {}): SubmitCodingJob {
  return { jobId, input: implementJob(), owner, ...change };
}
