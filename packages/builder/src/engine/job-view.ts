import type { JobView } from './job-engine.js';
import type { KnownJob } from './job-entry.js';

/** A job as it stands in a list. */
export function viewJob(job: KnownJob, state: JobView['state']): JobView {
  const { queue, id, enqueuedAt, attempt, reason, notBefore } = job;
  return {
    queue,
    id,
    enqueuedAt,
    attempt,
    state,
    ...(reason === undefined ? {} : { reason }),
    ...(notBefore === undefined ? {} : { notBefore }),
  };
}
