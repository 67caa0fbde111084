import { type Clock, type Logger, systemClock } from '@holdfast/agent';
import type { JobEngine } from '../engine/job-engine.js';
import type { Store } from '../persistence/store.js';
import type { CodingOptions } from './coding-options.js';
import type { CodingThreads, ThreadAddress } from './coding-threads.js';
import { createCodingWorkers } from './execution/create-coding-workers.js';
import { createCodingJobs, type ScheduledCodingJobs } from './scheduling/create-coding-jobs.js';
import { createCodingStages } from './stages/create-coding-stages.js';
import type { TurnInDoubt } from './store/recover-thread.js';
import type { ThreadPlace } from './store/thread-files.js';
import { createThreadStore } from './store/thread-store.js';
import { proveNativeTurn } from './worker/prove-native-turn.js';
import { threadRootOf } from './worker/validate-spec.js';
import { removeTree } from './workspace/private-folder.js';

/** What the coding threads of a builder are made of. */
export interface CodingThreadsParts {
  readonly store: Store;
  /** Not started yet. */
  readonly engine: JobEngine;
  readonly options: CodingOptions;
  readonly dataDir: string;
  readonly logger?: Logger | undefined;
  readonly clock?: Clock | undefined;
  /** Aborts when the builder closes. */
  readonly closing: AbortSignal;
  /** Throws once the builder was closed. */
  readonly checkOpen: () => void;
}

/** The coding threads of a builder, with what it does at its start and beside its work. */
export interface OwnedCodingThreads {
  readonly threads: CodingThreads;
  readonly recover: ScheduledCodingJobs['recover'];
  /** Shrinks ended jobs, and makes tombstones of threads that ended long ago. */
  readonly tidy: () => Promise<void>;
}

/** Makes them; options that cannot be used are a TypeError, or `runner_unfit`. */
export function createCodingThreads(parts: CodingThreadsParts): OwnedCodingThreads {
  const { store, closing, checkOpen, clock = systemClock } = parts;
  const { workerFile } = parts.options;
  const workers = createCodingWorkers({ logger: parts.logger, workerFile });
  const jobs = createCodingJobs({ ...parts, workers });
  const records = createThreadStore(store, { clock });
  const decisions = bindDecisions(records, jobs);
  const stageThreads = { ...decisions, scopeOf: jobs.scopeOf };
  const stages = createCodingStages({ store, clock, jobs, threads: stageThreads });
  const threads: CodingThreads = {
    ...decisions,
    find: jobs.find,
    list: jobs.list,
    submit: async (request) => {
      checkOpen();
      return await jobs.submit(request);
    },
    runStage: async (request) => {
      checkOpen();
      const letGo = AbortSignal.any([closing, request.letGo].filter((one) => one !== undefined));
      return await stages.run({ ...request, letGo });
    },
  };
  const tidy = async () => {
    await jobs.prune(closing);
    // A thread that was given up, or whose worker was killed as it closed, left its folder.
    await records.bury((place) => removeTree(threadRootOf(jobs.workspacesDir, place)));
  };
  return { threads, recover: jobs.recover, tidy };
}

/** What may be decided about threads, for owners in place of scopes. */
function bindDecisions(
  records: ReturnType<typeof createThreadStore>,
  jobs: ScheduledCodingJobs,
): Pick<CodingThreads, 'inspect' | 'adopt' | 'abandon' | 'rollback'> {
  const place = ({ owner, sessionRef }: ThreadAddress): ThreadPlace => ({
    scope: jobs.scopeOf(owner),
    sessionRef,
  });
  return {
    inspect: (address) => records.inspect(place(address)),
    adopt: ({ reason, operationId, ...address }) =>
      records.adopt({ ...place(address), reason, operationId }),
    abandon: ({ reason, ...address }) => records.abandon({ ...place(address), reason }),
    rollback: ({ reason, ...address }) => {
      const root = threadRootOf(jobs.workspacesDir, place(address));
      const prove = (turn: TurnInDoubt) => proveNativeTurn(turn, { root });
      return records.rollback({ ...place(address), reason, prove });
    },
  };
}

/** Where no runner was configured: each call says what is needed. */
export function refuseCodingThreads(): CodingThreads {
  const refuse = () =>
    Promise.reject(new TypeError('This builder has no runners; give createBuilder({ coding }).'));
  return {
    submit: refuse,
    find: refuse,
    list: refuse,
    runStage: refuse,
    inspect: refuse,
    adopt: refuse,
    abandon: refuse,
    rollback: refuse,
  };
}
