import assert from 'node:assert/strict';
import { waitUntil } from '@holdfast/agent';
import type {
  Job,
  JobContext,
  JobEngine,
  JobOutcome,
  JobView,
  QueueOptions,
} from '../job-engine.js';

/** How long anything may take that must happen. Only an engine that fails needs it. */
const LIMIT_MS = 30_000;

/** Waits until the probe gives something. */
export function eventually<Value>(
  awaiting: string,
  probe: () => Promise<Value | undefined | false> | Value | undefined | false,
  intervalMs = 10,
): Promise<Value> {
  return waitUntil(probe, { awaiting, deadlineMs: LIMIT_MS, intervalMs, layer: 'builder' });
}

/** What ran, in the order it was begun. */
export interface Runs {
  readonly jobs: readonly Job[];
  readonly contexts: readonly JobContext[];
  /** Waits for so many runs to have begun. */
  readonly reach: (count: number) => Promise<readonly Job[]>;
}

type Act = (job: Job, context: JobContext) => JobOutcome | Promise<JobOutcome>;

const done: Act = () => ({ state: 'done' });

/** Handles a queue, and records what is run. */
export function record(
  engine: JobEngine,
  queue: string,
  act: Act = done,
  options?: QueueOptions,
): Runs {
  const jobs: Job[] = [];
  const contexts: JobContext[] = [];
  engine.handle(
    queue,
    async (job, context) => {
      jobs.push(job);
      contexts.push(context);
      return await act(job, context);
    },
    options,
  );
  const reach = (count: number) =>
    eventually(`${count} runs of ${queue}`, () => jobs.length >= count && jobs);
  return { jobs, contexts, reach };
}

/** Holds a job until it is let go of. */
export function createGate(): { readonly open: () => void; readonly passed: Promise<void> } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, passed };
}

/** Waits for a job to stand as told in an engine's list. */
export function listed(
  engine: JobEngine,
  { queue, id }: Pick<Job, 'queue' | 'id'>,
  is: (job: JobView | undefined) => boolean,
): Promise<true> {
  return eventually(`${queue}/${id} as it was wanted`, async () => {
    return is((await engine.list(queue)).find((one) => one.id === id)) ? true : undefined;
  });
}

/** Waits until nothing of a queue is left. */
export function emptied(engine: JobEngine, queue: string): Promise<true> {
  const isEmpty = async () => (await engine.list(queue)).length === 0;
  // A list asks for every job who has it: not so often that nothing else gets done.
  return eventually(`${queue} to be empty`, isEmpty, 100);
}

/** The ids in a report or a list. */
export function idsOf(jobs: readonly { readonly id: string }[]): readonly string[] {
  return jobs.map(({ id }) => id);
}

/** Checks that an act fails with a TypeError, at once or later. */
export async function refuses(act: () => unknown): Promise<void> {
  await assert.rejects(async () => await act(), TypeError);
}
