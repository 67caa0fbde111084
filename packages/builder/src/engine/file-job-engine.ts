import { setMaxListeners } from 'node:events';
import { type Clock, type Logger, systemClock } from '@holdfast/agent';
import { keys } from '../persistence/keys.js';
import type { JsonValue, Store } from '../persistence/store.js';
import { cancelJob } from './cancel-job.js';
import { enqueueJob } from './enqueue-job.js';
import type {
  EngineReport,
  EnqueueOptions,
  JobEngine,
  JobHandler,
  JobView,
  QueueOptions,
} from './job-engine.js';
import { checkJobId, queueKeys } from './job-keys.js';
import { compareJobs, createJobOrders } from './job-record.js';
import { viewJob } from './job-view.js';
import { listJobs } from './list-jobs.js';
import type { QueueAccess } from './queue-context.js';
import { QueueRunner } from './queue-runner.js';
import { reportUnhandled } from './report-unhandled.js';
import { wakeJob } from './wake-job.js';

/** How an engine keeps time and tells what it sees. */
export interface JobEngineOptions {
  readonly clock?: Clock | undefined;
  readonly logger?: Logger | undefined;
  /** How often it looks for what others left; 1000 when absent. */
  readonly pollMs?: number | undefined;
}

const DEFAULT_MAX_ATTEMPTS = 20;
const DEFAULT_POLL_MS = 1_000;

/** Durable jobs in a store. Any number of engines, in any number of processes, may share one. */
export function createJobEngine(store: Store, options: JobEngineOptions = {}): JobEngine {
  const engine = new StoreJobEngine(store, options);
  // Bound, so that a single function of it may be handed on.
  return {
    handle: (queue, handler, queueOptions) => engine.handle(queue, handler, queueOptions),
    enqueue: (queue, id, payload, how) => engine.enqueue(queue, id, payload, how),
    start: () => engine.start(),
    wake: (queue, id) => engine.wake(queue, id),
    cancel: (queue, id) => engine.cancel(queue, id),
    list: (queue) => engine.list(queue),
    stop: () => engine.stop(),
    [Symbol.asyncDispose]: () => engine.stop(),
  };
}

class StoreJobEngine {
  readonly #access: Omit<QueueAccess, 'keys'>;
  readonly #pollMs: number;
  readonly #runners = new Map<string, QueueRunner>();
  readonly #stopping = new AbortController();
  #started: Promise<EngineReport> | undefined;
  #stopped: Promise<void> | undefined;

  constructor(store: Store, { clock = systemClock, logger, pollMs }: JobEngineOptions) {
    this.#access = { store, clock, logger, orders: createJobOrders(clock) };
    // Every job that runs listens.
    setMaxListeners(0, this.#stopping.signal);
    this.#pollMs = checkPositive('pollMs', pollMs ?? DEFAULT_POLL_MS);
  }

  handle(queue: string, handler: JobHandler, options: QueueOptions = {}): void {
    const { concurrency = Number.POSITIVE_INFINITY, maxAttempts = DEFAULT_MAX_ATTEMPTS } = options;
    if (this.#started) throw new TypeError('Say who runs a queue before the engine is started.');
    if (this.#runners.has(queue)) throw new TypeError(`The queue ${queue} is handled already.`);
    const context = {
      ...this.#accessTo(queue),
      handler,
      concurrency: checkPositive('concurrency', concurrency),
      maxAttempts: checkPositive('maxAttempts', maxAttempts),
      pollMs: this.#pollMs,
      stopping: this.#stopping.signal,
    };
    this.#runners.set(queue, new QueueRunner(context));
  }

  async enqueue(
    queue: string,
    id: string,
    payload: JsonValue,
    options: EnqueueOptions = {},
  ): Promise<boolean> {
    for (;;) {
      const record = await enqueueJob(this.#accessTo(queue, id), id, payload);
      if (record) this.#runners.get(queue)?.noteEnqueued(record);
      if (record || !options.wakes) return record !== undefined;
      // One that was done in between is neither there nor woken: then it is enqueued anew.
      if (await this.wake(queue, id)) return false;
    }
  }

  async start(): Promise<EngineReport> {
    if (this.#started) throw new TypeError('The engine was started already.');
    if (this.#stopped) throw new TypeError('The engine was stopped.');
    this.#started = this.#survey();
    const report = await this.#started;
    if (!this.#stopped) for (const runner of this.#runners.values()) runner.start();
    return report;
  }

  async #survey(): Promise<EngineReport> {
    const { store } = this.#access;
    const queues = await store.list(keys.queues());
    const unhandled = queues.filter((queue) => !this.#runners.has(queue));
    const reports = await Promise.all([
      ...[...this.#runners.values()].map((runner) => runner.survey()),
      ...unhandled.map((queue) => reportUnhandled(this.#accessTo(queue))),
    ]);
    return {
      queued: reports
        .flatMap(({ queued }) => queued)
        .sort(compareJobs)
        .map((job) => viewJob(job, 'waiting')),
      left: reports.flatMap(({ left }) => left),
    };
  }

  async wake(queue: string, id: string): Promise<boolean> {
    const isThere = await wakeJob(this.#accessTo(queue, id), id);
    if (isThere) this.#runners.get(queue)?.noteChanged(id, 'isWoken');
    return isThere;
  }

  async cancel(queue: string, id: string): Promise<void> {
    const runner = this.#runners.get(queue);
    if (await runner?.running(id)?.cancel()) return;
    const end = await cancelJob(this.#accessTo(queue, id), id);
    if (end === 'noted') runner?.noteChanged(id, 'isCancelled');
  }

  async list(queue: string): Promise<readonly JobView[]> {
    const runner = this.#runners.get(queue);
    // Recovery lists what is open right before the start: what it read is not read once more.
    const onRead = this.#started ? undefined : runner?.learnListed;
    const runningHere = (id: string) => runner?.running(id)?.record;
    return await listJobs(this.#accessTo(queue), { runningHere, onRead });
  }

  stop(): Promise<void> {
    this.#stopping.abort();
    this.#stopped ??= this.#end();
    return this.#stopped;
  }

  async #end(): Promise<void> {
    await this.#started?.catch(() => {});
    await Promise.all([...this.#runners.values()].map((runner) => runner.stop()));
  }

  #accessTo(queue: string, id?: string): QueueAccess {
    const queueAccess = { ...this.#access, keys: queueKeys(queue) };
    if (id !== undefined) checkJobId(queueAccess.keys, id);
    return queueAccess;
  }
}

function checkPositive(name: string, value: number): number {
  if (value > 0) return value;
  throw new TypeError(`${name} must be more than 0.`);
}
