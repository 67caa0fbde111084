import { randomUUID } from 'node:crypto';
import { systemClock } from '@holdfast/agent';
import type { JobContext, JobEngine } from '../job-engine.js';

/** Jobs that a holder holds until it dies or they are taken from it. */
export const HELD = 'held';
/** A holder says here which job it lost. */
export const LOST = 'lost';
/** Jobs that every engine runs at once. */
export const SHARED = 'shared';
/** One job a run of a shared one. */
export const RAN = 'ran';

/** What the other process of a proof does with its engine. It is killed in the end. */
export async function holdJobs(engine: JobEngine): Promise<void> {
  engine.handle(HELD, async (job, context) => {
    await untilLost(context);
    await engine.enqueue(LOST, job.id, job.attempt);
    return { state: 'retry', reason: 'it was lost' };
  });
  handleShared(engine);
  await engine.start();
}

/** Runs shared jobs, and leaves a durable trace of each run. */
export function handleShared(engine: JobEngine): void {
  engine.handle(SHARED, async (job) => {
    await engine.enqueue(RAN, `${job.id}.${randomUUID()}`, job.attempt);
    return { state: 'done' };
  });
}

/** Waits for `isCurrent` alone: the signal is not what another process is told by. */
async function untilLost({ isCurrent }: JobContext): Promise<void> {
  while (isCurrent()) await systemClock.sleep(20);
}
