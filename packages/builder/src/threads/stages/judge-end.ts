import type { CodingOutcome } from '../coding-job.js';
import type { WorkerEnd } from '../worker/worker-spec.js';

/** What the end of a try means for the stage. */
export type EndVerdict =
  | { readonly type: 'outcome'; readonly outcome: CodingOutcome }
  /** The same operation again, later. */
  | { readonly type: 'again'; readonly why: string }
  /** Nobody knows before the thread was looked at. */
  | { readonly type: 'inspect'; readonly why: string }
  | { readonly type: 'replace'; readonly why: string }
  | { readonly type: 'fail'; readonly why: string };

/** Judges how a try ended, by the retry class of its error. Pure. */
export function judgeEnd(end: WorkerEnd): EndVerdict {
  if (end.class === 'success') return { type: 'outcome', outcome: end.outcome };
  if (end.class === 'cancelled') {
    return { type: 'inspect', why: `it was cancelled: ${end.reason}` };
  }
  if (end.class === 'unknown') return { type: 'inspect', why: end.reason };
  const { retry, kind, message } = end.error;
  const why = `${kind}: ${message}`;
  if (retry === 'same') return { type: 'again', why };
  if (retry === 'never') return { type: 'fail', why };
  return { type: retry, why };
}
