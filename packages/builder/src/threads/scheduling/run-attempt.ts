import type { Lease } from '@holdfast/agent';
import type { JobContext } from '../../engine/job-engine.js';
import type { WorkerRun } from '../execution/coding-workers.js';
import type { CodingWorkerSpec, WorkerEnd } from '../worker/worker-spec.js';
import type { CodingDesk } from './coding-desk.js';
import type { CodingJobRecord } from './coding-job-record.js';
import { watchCancel } from './follow-job.js';

/** One try of a job whose start is on disk. */
export interface Attempt {
  readonly record: CodingJobRecord;
  readonly spec: CodingWorkerSpec;
  readonly variables: WorkerRun['variables'];
  readonly lease: Lease;
  readonly context: JobContext;
}

/** What a worker said, and what was said to it. */
export interface AttemptEnd {
  readonly end: WorkerEnd;
  /** Why it was cancelled, where that came before its end. */
  readonly cancelled?: string | undefined;
  readonly isPastDeadline: boolean;
}

/** The CLI's own patience ends first, with an error that says more. */
const SILENCE_GRACE_MS = 30_000;

/** Runs the worker of one try, and reaches it with a cancel from wherever. */
export async function runAttempt(desk: CodingDesk, attempt: Attempt): Promise<AttemptEnd> {
  const { record, spec, variables, lease, context } = attempt;
  const cancelling = new AbortController();
  const over = new AbortController();
  const time = keepTime(desk, attempt);
  let cancelled: string | undefined;
  const watched = watchCancel(desk, record.jobId, {
    signal: over.signal,
    onCancel: (reason) => {
      cancelled ??= reason;
      cancelling.abort(reason);
    },
  }).catch((error: unknown) => {
    desk.logger?.warn({ job_id: record.jobId, err: error }, 'cancels of a coding job not watched');
  });
  // A stop alone lets it finish; what was taken over is no longer ours to run.
  const checkOurs = () => {
    if (!lease.isCurrent() || !context.isCurrent()) cancelling.abort('another host took it over');
  };
  context.signal.addEventListener('abort', checkOurs, { once: true });
  try {
    const end = await runWorker(desk, {
      ...{ spec, variables },
      executionId: record.executionId ?? '',
      fencingToken: record.fencingToken,
      signal: cancelling.signal,
      deadlineAt: time.deadlineAt,
      onProgress: () => {
        time.noteLife();
        checkOurs();
      },
    });
    return { end, cancelled, isPastDeadline: time.isOver() };
  } finally {
    context.signal.removeEventListener('abort', checkOurs);
    over.abort();
    await watched;
  }
}

/** A defect of ours proves nothing of what the worker did. */
async function runWorker({ workers, logger }: CodingDesk, run: WorkerRun): Promise<WorkerEnd> {
  try {
    return await workers.run(run);
  } catch (error) {
    logger?.error({ execution_id: run.executionId, err: error }, 'worker of a coding job not run');
    const why = error instanceof Error ? error.message : String(error);
    return { class: 'unknown', reason: `Its worker could not be followed: ${why}` };
  }
}

/** The job's own deadline stands; within it the worker is given time as long as it tells that it lives. */
function keepTime({ clock }: CodingDesk, { record, spec }: Attempt) {
  const endsAt = clock.monotonicMs() + Date.parse(record.deadlineAt) - clock.now();
  const patienceMs = spec.inactivityMs + SILENCE_GRACE_MS;
  let silentAt = clock.monotonicMs() + patienceMs;
  const leftMs = () => Math.min(endsAt, silentAt) - clock.monotonicMs();
  return {
    deadlineAt: () => clock.now() + leftMs(),
    noteLife: () => {
      silentAt = clock.monotonicMs() + patienceMs;
    },
    isOver: () => leftMs() <= 0,
  };
}
