import { vi } from 'vitest';
import type { CodingOutcome } from '../../coding-job.js';
import { DIGEST } from '../../contract/__fixtures__/coding-jobs.js';
import type { CodingWorkers, WorkerRun } from '../../execution/coding-workers.js';
import type { WorkerEnd } from '../../worker/worker-spec.js';

/** What a worker of these tests comes to. */
export function outcomeOf(run: WorkerRun): CodingOutcome {
  return { outcome: 'no-change', operationId: run.spec.operationId, evidence: {} };
}

/** Workers that do what a test says: they succeed at once, or wait to be let go. */
export class FakeWorkers implements CodingWorkers {
  readonly runs: WorkerRun[] = [];
  /** The digest that the workers tell of themselves. */
  capabilities: string = DIGEST;
  /** The most that ran at the same time. */
  most = 0;
  behave: (run: WorkerRun) => Promise<WorkerEnd> = async (run) => {
    return { class: 'success', outcome: outcomeOf(run) };
  };
  #running = 0;
  readonly #held = new Map<string, (end: WorkerEnd) => void>();

  readonly capabilityDigest = async () => this.capabilities;

  readonly run = async (run: WorkerRun): Promise<WorkerEnd> => {
    this.runs.push(run);
    this.#running += 1;
    this.most = Math.max(this.most, this.#running);
    try {
      return await this.behave(run);
    } finally {
      this.#running -= 1;
    }
  };

  /** From now on each waits until it is let go, or is cancelled. */
  hold(): void {
    this.behave = (run) =>
      new Promise((resolve) => {
        const end = (given: WorkerEnd) => resolve(given);
        this.#held.set(run.spec.operationId, end);
        const reason = () => String(run.signal.reason);
        run.signal.addEventListener('abort', () => end({ class: 'cancelled', reason: reason() }));
        if (run.signal.aborted) end({ class: 'cancelled', reason: reason() });
      });
  }

  /** Lets the worker of an operation end. */
  async letGo(operationId: string, end?: WorkerEnd): Promise<void> {
    await this.waitForRun(operationId);
    const run = this.runs.find(({ spec }) => spec.operationId === operationId);
    const outcome = run && outcomeOf(run);
    if (!outcome) throw new TypeError('it was not run');
    this.#held.get(operationId)?.(end ?? { class: 'success', outcome });
  }

  /** Ends whatever waits, so that no test leaves anything. */
  letAllGo(): void {
    for (const end of this.#held.values()) end({ class: 'unknown', reason: 'the test is over' });
  }

  /** The operations in the order they were run. */
  get operations(): readonly string[] {
    return this.runs.map(({ spec }) => spec.operationId);
  }

  async waitForRun(operationId: string): Promise<WorkerRun> {
    return await vi.waitFor(
      () => {
        const run = this.runs.find(({ spec }) => spec.operationId === operationId);
        if (!run) throw new TypeError(`${operationId} was not run`);
        return run;
      },
      { timeout: 20_000 },
    );
  }
}
