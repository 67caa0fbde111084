import { backOffMs } from './back-off.js';
import type { JobOutcome } from './job-engine.js';
import { instantOf, type JobRecord } from './job-record.js';

/** What decides, beside the outcome, how a job stands after a run. */
export interface AfterRun {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly maxAttempts: number;
  /** The run was cut off by the engine's own end. */
  readonly wasStopped: boolean;
}

/** How a job stands after a run that did not finish it. Pure. */
export function recordAfter(
  record: JobRecord,
  outcome: Exclude<JobOutcome, { readonly state: 'done' }>,
  { now, maxAttempts, wasStopped }: AfterRun,
): JobRecord {
  const { attempt } = record;
  const { reason } = outcome;
  const uncounted = { ...record, attempt: Math.max(0, attempt - 1) };
  if (outcome.state === 'parked') return { ...record, state: 'parked', reason };
  if (outcome.state === 'later') return putOff(uncounted, reason, now, waitUntil(outcome, now));
  if (wasStopped) return { ...uncounted, reason };
  const failed = { ...record, lastError: reason };
  if (attempt >= maxAttempts) return parkExhausted(failed);
  return putOff(failed, reason, now, backOffMs(attempt));
}

/** A job that was begun as often as it may be. */
export function parkExhausted(record: JobRecord): JobRecord {
  const last = record.lastError ? `; the last failure was: ${record.lastError}` : '';
  return { ...record, state: 'parked', reason: `It was begun ${record.attempt} times${last}` };
}

function putOff(record: JobRecord, reason: string, now: number, waitMs: number): JobRecord {
  return { ...record, reason, waitMs, notBefore: instantOf(now + waitMs) };
}

function waitUntil({ notBefore }: { readonly notBefore?: string | undefined }, now: number) {
  return notBefore === undefined ? 0 : Math.max(0, Date.parse(notBefore) - now);
}
