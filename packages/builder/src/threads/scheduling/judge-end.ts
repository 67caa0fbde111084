import { CodingThreadError } from '../coding-thread-error.js';
import type { WorkerEnd } from '../worker/worker-spec.js';
import { failedEnd } from './end-job.js';
import type { ThreadProof } from './find-thread-outcome.js';
import type { AttemptEnd } from './run-attempt.js';

/** Whether a worker's own word is enough, or the thread must be looked at. */
export function needsProof({ end, cancelled }: AttemptEnd): boolean {
  if (end.class === 'unknown') return true;
  // It was ended without a cancel of ours: by its deadline.
  return end.class === 'cancelled' && cancelled === undefined;
}

/** The end of a job whose worker said how it ended. No success overrides a cancel; what was committed stays as evidence. */
export function judgeSaidEnd({ end, cancelled }: AttemptEnd): WorkerEnd {
  if (cancelled === undefined) return end;
  const outcome = end.class === 'success' || end.class === 'cancelled' ? end.outcome : undefined;
  return cancelledEnd(cancelled, outcome);
}

/** The end of a job whose worker did not say it, by what its thread proves. */
export function judgeProvenEnd(
  { end, cancelled, isPastDeadline }: AttemptEnd,
  { outcome, isUntouched, evidence }: ThreadProof,
): WorkerEnd {
  const reason = 'reason' in end ? end.reason : 'its worker said nothing';
  if (outcome)
    return cancelled === undefined
      ? { class: 'success', outcome }
      : cancelledEnd(cancelled, outcome);
  if (isUntouched && cancelled !== undefined) return cancelledEnd(cancelled);
  if (isUntouched && isPastDeadline) return deadlineEnd('before it ended');
  return { class: 'unknown', reason, evidence };
}

/** The end of a job that was cancelled. */
export function cancelledEnd(
  reason: string,
  outcome?: (WorkerEnd & { readonly class: 'success' })['outcome'],
): WorkerEnd {
  return outcome === undefined
    ? { class: 'cancelled', reason }
    : { class: 'cancelled', reason, outcome };
}

/** The end of a job whose time was over. */
export function deadlineEnd(when: string): WorkerEnd {
  return failedEnd(new CodingThreadError('deadline_exceeded', `Its time was over ${when}.`));
}
