import type { Clock } from '@holdfast/agent';
import type { EnqueueOptions, Job, JobEngine, JobHandler, JobOutcome } from '../../engine/job-engine.js';
import type { JsonValue } from '../../persistence/store.js';

interface MemoryJob {
  readonly job: Job;
  notBefore?: string | undefined;
  parked?: string | undefined;
}

/** A clock that a test moves. */
export interface TestClock extends Clock {
  readonly moveTo: (instant: string) => void;
}

export function createTestClock(start = '2026-01-01T00:00:00.000Z'): TestClock {
  let now = Date.parse(start);
  return {
    // Each look is a millisecond later, so that instants tell an order.
    now: () => (now += 1),
    monotonicMs: () => performance.now(),
    sleep: async () => {},
    moveTo: (instant) => {
      now = Math.max(now, Date.parse(instant));
    },
  };
}

/** Jobs in memory, run only when a test says so; a wait for an instant moves the clock there. */
export class MemoryEngine implements JobEngine {
  readonly jobs = new Map<string, MemoryJob>();
  readonly outcomes: JobOutcome[] = [];
  handler: JobHandler | undefined;
  signal = new AbortController();
  /** Whether a job that waits for an instant is run then. */
  skipsTime = true;

  constructor(readonly clock: TestClock) {}

  readonly handle = (_queue: string, handler: JobHandler) => {
    this.handler = handler;
  };

  readonly enqueue = async (queue: string, id: string, payload: JsonValue, options?: EnqueueOptions) => {
    if (this.jobs.has(id)) {
      if (options?.wakes) await this.wake(queue, id);
      return false;
    }
    const job: Job = { queue, id, payload: JSON.parse(JSON.stringify(payload)), enqueuedAt: '', attempt: 1 };
    this.jobs.set(id, { job });
    this.#added(id);
    return true;
  };

  /** Takes over the jobs of a process that died; on a real disk they stand there. */
  inherit(other: MemoryEngine): void {
    for (const [id, { job, notBefore }] of other.jobs) this.jobs.set(id, { job, notBefore });
  }

  readonly start = async () => ({ queued: [], left: [] });
  readonly wake = async (_queue: string, id: string) => {
    const found = this.jobs.get(id);
    if (!found) return false;
    found.parked = undefined;
    found.notBefore = undefined;
    this.#added(id);
    return true;
  };
  readonly cancel = async (_queue: string, id: string) => {
    this.jobs.delete(id);
  };
  readonly list = async (queue: string) =>
    [...this.jobs.values()].map(({ job: { payload: _payload, ...job }, notBefore }) => ({
      ...job,
      queue,
      state: 'waiting' as const,
      notBefore,
    }));
  readonly stop = async () => this.signal.abort();
  readonly [Symbol.asyncDispose] = this.stop;

  #isRunning = false;
  readonly #active = new Set<string>();
  readonly #runs: Promise<void>[] = [];

  /** Runs everything that can run, and what it adds, until only parked or waiting jobs are left. */
  async run(): Promise<void> {
    this.#isRunning = true;
    try {
      for (const id of this.jobs.keys()) this.#added(id);
      const errors: unknown[] = [];
      while (this.#runs.length > 0) await this.#runs.shift()?.catch((error) => errors.push(error));
      if (errors.length > 0) throw errors[0];
    } finally {
      this.#isRunning = false;
    }
  }

  #added(id: string): void {
    if (!this.#isRunning || this.#active.has(id)) return;
    this.#active.add(id);
    const run = this.#drive(id).finally(() => this.#active.delete(id));
    run.catch(() => {});
    this.#runs.push(run);
  }

  async #drive(id: string): Promise<void> {
    for (let found = this.jobs.get(id); found; found = this.jobs.get(id)) {
      if (found.parked !== undefined || this.signal.signal.aborted) return;
      if (found.notBefore !== undefined) {
        if (!this.skipsTime) return;
        this.clock.moveTo(found.notBefore);
      }
      if (!this.handler) throw new Error('no handler');
      const context = { signal: this.signal.signal, isCurrent: () => true };
      const outcome = await this.handler(found.job, context);
      this.outcomes.push(outcome);
      if (outcome.state === 'done') this.jobs.delete(id);
      if (outcome.state === 'parked') found.parked = outcome.reason;
      if (outcome.state === 'later') found.notBefore = outcome.notBefore;
      if (outcome.state === 'later' && outcome.notBefore === undefined) return;
    }
  }
}
