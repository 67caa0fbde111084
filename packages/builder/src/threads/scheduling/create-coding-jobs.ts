import { join, resolve } from 'node:path';
import { type Clock, type Logger, systemClock } from '@holdfast/agent';
import type { JobEngine } from '../../engine/job-engine.js';
import { createJobOrders } from '../../engine/job-record.js';
import type { Store } from '../../persistence/store.js';
import type { Sha256 } from '../coding-job.js';
import type { CodingOptions } from '../coding-options.js';
import type { ThreadOwner } from '../contract/thread-scope.js';
import type { CodingWorkers } from '../execution/coding-workers.js';
import { createThreadStore } from '../store/thread-store.js';
import { type CodingDesk, DEADLINES_QUEUE } from './coding-desk.js';
import { listJobIds, readCodingJob, readCodingJobs } from './coding-job-files.js';
import { viewCodingJob } from './coding-job-record.js';
import type { CodingJobs } from './coding-jobs.js';
import { readRunners, scopeOf } from './coding-runner.js';
import { createJobHandle } from './job-handle.js';
import { type CodingRecovery, recoverCodingJobs } from './recover-jobs.js';
import { pruneJobs } from './retain-jobs.js';
import { createSlotHandler } from './run-slot.js';
import { submitCodingJob } from './submit-job.js';
import { createDeadlineHandler } from './watch-deadline.js';

/** What coding jobs are scheduled with. */
export interface CodingJobsParts {
  readonly store: Store;
  /** Not started yet: the queues of the runners are handled from here on. */
  readonly engine: JobEngine;
  readonly workers: CodingWorkers;
  readonly options: CodingOptions;
  readonly dataDir: string;
  readonly clock?: Clock | undefined;
  readonly logger?: Logger | undefined;
  /** Aborts when the builder closes, so that nobody waits for an end here any more. */
  readonly closing?: AbortSignal | undefined;
}

/** Coding jobs, with what a builder does at its start. */
export interface ScheduledCodingJobs extends CodingJobs {
  /** Puts what is owed into the queues again; before the engine is started. */
  readonly recover: () => Promise<CodingRecovery>;
  /** Shrinks what ended and was acknowledged more than 30 days ago; gives how many. */
  readonly prune: (signal?: AbortSignal) => Promise<number>;
  /** Absolute: below it stands one folder a thread. */
  readonly workspacesDir: string;
  /** The scope of an owner's threads. */
  readonly scopeOf: (owner: ThreadOwner) => Sha256;
}

/**
 * Schedules coding jobs on a builder's engine. When the engine stops, jobs that wait stay on disk and workers that run are
 * let finish, so `stop` takes as long as they do; whoever cannot wait cancels them first. What a kill leaves in the middle is
 * looked for in its thread at the next start, and never run again.
 */
export function createCodingJobs(parts: CodingJobsParts): ScheduledCodingJobs {
  const desk = createDesk(parts);
  // A kill of the process must not use up what a slot may try: it holds the jobs of everybody.
  const bounds = { maxAttempts: Number.POSITIVE_INFINITY };
  for (const runner of desk.runners.values()) {
    const { queue, concurrency } = runner;
    desk.engine.handle(queue, createSlotHandler(desk, runner), { ...bounds, concurrency });
  }
  desk.engine.handle(DEADLINES_QUEUE, createDeadlineHandler(desk), bounds);
  return {
    submit: async (request) => {
      await submitCodingJob(desk, request);
      return createJobHandle(desk, request.jobId);
    },
    find: async (jobId) =>
      (await readCodingJob(desk, jobId)) ? createJobHandle(desk, jobId) : undefined,
    list: async () => {
      const records = await readCodingJobs(desk, await listJobIds(desk));
      return records
        .toSorted((one, other) => (one.order < other.order ? -1 : 1))
        .map(viewCodingJob);
    },
    recover: () => recoverCodingJobs(desk),
    prune: (signal) => pruneJobs(desk, signal),
    workspacesDir: desk.workspacesDir,
    scopeOf: (owner) => scopeOf(desk.options, desk.runners, owner),
  };
}

function createDesk(parts: CodingJobsParts): CodingDesk {
  const { clock = systemClock, options, store } = parts;
  const dataDir = resolve(parts.dataDir);
  return {
    ...parts,
    ...{ clock, dataDir },
    workspacesDir: resolve(options.workspacesDir ?? join(dataDir, 'workspaces')),
    runners: readRunners(options),
    threads: createThreadStore(store, { clock }),
    orders: createJobOrders(clock),
  };
}
