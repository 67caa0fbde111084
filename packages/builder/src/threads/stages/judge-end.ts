import { errorFromJson, isTurnError, type TurnError } from '@holdfast/agent';
import type { CodingOutcome } from '../coding-job.js';
import { isCodingThreadError } from '../coding-thread-error.js';
import { restoreWorkerError } from '../worker/worker-error.js';
import type { WorkerEnd, WorkerError } from '../worker/worker-spec.js';

/** What the end of a try means for the stage. */
export type EndVerdict =
  | { readonly type: 'outcome'; readonly outcome: CodingOutcome }
  /** The same operation again, later; where something outside must change first, `waitsFor` says what. */
  | { readonly type: 'again'; readonly why: string; readonly waitsFor?: TurnError | undefined }
  /** Nobody knows before the thread was looked at; `waitsFor` says what must change outside before the next try. */
  | {
      readonly type: 'inspect';
      readonly why: string;
      readonly waitsFor?: TurnError | undefined;
    }
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
  if (retry === 'same') return { type: 'again', why, waitsFor: findWait(end.error) };
  if (retry === 'never') return { type: 'fail', why };
  if (retry === 'replace') return { type: retry, why };
  return { type: retry, why, waitsFor: findLaterWait(end.error) };
}

/** A claimed turn that ran into a limit or a missing sign-in: the next one would too. */
function findLaterWait(error: WorkerError): TurnError | undefined {
  const restored = restoreWorkerError(error);
  const evidence = isCodingThreadError(restored) ? restored.details.evidence : undefined;
  if (typeof evidence !== 'object' || evidence === null || !('waitsFor' in evidence))
    return undefined;
  const found = errorFromJson(evidence['waitsFor']);
  return isTurnError(found) ? found : undefined;
}

const OUTSIDE: ReadonlySet<string> = new Set(['rate_limited', 'auth_required', 'cli_unusable']);

/** Another try in a moment mends none of these. */
function findWait(error: WorkerError): TurnError | undefined {
  if (error.family !== 'agent' || !OUTSIDE.has(error.kind)) return undefined;
  const restored = restoreWorkerError(error);
  return isTurnError(restored) ? restored : undefined;
}
