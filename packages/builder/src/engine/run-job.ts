import { backOffMs } from './back-off.js';
import type { BegunJob } from './claim-job.js';
import type { JobOutcome } from './job-engine.js';
import type { JobRecord } from './job-record.js';
import { takeJobAway } from './job-store.js';
import type { QueueContext } from './queue-context.js';
import { settleJob } from './settle-job.js';

/** How a job stands after its run here: as a record, gone, or, `unknown`, to be read anew. */
export type RunEnd = JobRecord | 'gone' | 'unknown';

/** A job that runs here. */
export interface RunningJob {
  readonly record: JobRecord;
  /** Never rejects. */
  readonly ended: Promise<RunEnd>;
  /** Takes the job away and aborts its handler; false when the run was over before. */
  readonly cancel: () => Promise<boolean>;
  /** Aborts the handler where another process took the job over. */
  readonly checkLease: () => void;
}

/** Calls the handler, writes what it says and lets go of the job. */
export function runJob(context: QueueContext, begun: BegunJob): RunningJob {
  const { record, lease } = begun;
  const abort = new AbortController();
  const stop = () => abort.abort();
  context.stopping.addEventListener('abort', stop, { once: true });
  if (context.stopping.aborted) stop();
  let isCancelled = false;
  let isOver = false;
  let writing: Promise<unknown> = Promise.resolve();
  // A cancel and the run's end never write at the same time.
  const inTurn = <Value>(write: () => Promise<Value>): Promise<Value> => {
    const written = writing.then(write);
    writing = written.catch(() => {});
    return written;
  };
  const settle = async (outcome: JobOutcome): Promise<RunEnd> => {
    const settled = isCancelled ? undefined : await settleJob(context, begun, outcome);
    isOver = true;
    return settled ?? 'gone';
  };
  const run = async (): Promise<RunEnd> => {
    const isCurrent = () => !isCancelled && lease.isCurrent();
    const outcome = await callHandler(context, record, { signal: abort.signal, isCurrent });
    const end = await keepTrying(context, begun, () => inTurn(() => settle(outcome)));
    isOver = true;
    context.stopping.removeEventListener('abort', stop);
    await release(context, begun);
    return end;
  };
  return {
    record,
    ended: run(),
    cancel: () =>
      inTurn(async () => {
        if (isOver) return false;
        isCancelled = true;
        abort.abort();
        await takeJobAway(context, record, lease);
        return true;
      }),
    checkLease: () => {
      if (!isOver && !lease.isCurrent()) abort.abort();
    },
  };
}

async function callHandler(
  { handler, stopping }: QueueContext,
  { queue, id, payload, enqueuedAt, attempt }: JobRecord,
  jobContext: Parameters<typeof handler>[1],
): Promise<JobOutcome> {
  if (stopping.aborted) return { state: 'later', reason: 'The engine was stopped.' };
  try {
    const outcome = await handler({ queue, id, payload, enqueuedAt, attempt }, jobContext);
    return checkOutcome(outcome);
  } catch (error) {
    return { state: 'retry', reason: error instanceof Error ? error.message : String(error) };
  }
}

function checkOutcome(outcome: JobOutcome): JobOutcome {
  if (outcome.state !== 'later' || outcome.notBefore === undefined) return outcome;
  if (!Number.isNaN(Date.parse(outcome.notBefore))) return outcome;
  throw new TypeError(`${JSON.stringify(outcome.notBefore)} is no instant to begin a job at.`);
}

/** A full disk must not lose what the handler said: it is written as soon as that can be, while the job is ours. */
async function keepTrying(
  { clock, logger, stopping }: QueueContext,
  { record, lease }: BegunJob,
  settle: () => Promise<RunEnd>,
): Promise<RunEnd> {
  const { queue, id } = record;
  for (let failures = 1; ; failures += 1) {
    try {
      return await settle();
    } catch (error) {
      logger?.warn({ queue, job_id: id, err: error }, 'end of a job not written');
    }
    if (stopping.aborted || !lease.isCurrent()) return 'unknown';
    // Ends early, and tries a last time, when the engine stops.
    await clock.sleep(backOffMs(failures), stopping).catch(() => {});
  }
}

async function release({ logger }: QueueContext, { record, lease }: BegunJob): Promise<void> {
  try {
    await lease.release();
  } catch (error) {
    logger?.error({ queue: record.queue, job_id: record.id, err: error }, 'job not let go of');
  }
}
