import {
  AuthRequiredError,
  isContinuationError,
  isTurnError,
  RateLimitedError,
} from '@holdfast/agent';
import type { JsonValue } from '../../persistence/store.js';
import { CodingThreadError, isCodingThreadError } from '../coding-thread-error.js';
import type { JobThread } from './job-thread.js';

/** A claimed turn that gave no result. */
export interface FailedTurn {
  readonly thread: JobThread;
  readonly sessionRef: string | undefined;
  readonly turnId: string;
  readonly error: unknown;
  /** Whether every process of the CLI is proven to be gone: nothing goes on with the turn. */
  readonly isEnded: boolean;
}

/** What of these is told leaves nothing running, and is itself the proof that the turn is over, or never began. */
const PROVES_AN_END: ReadonlySet<string> = new Set([
  'provider_failed',
  'rate_limited',
  'auth_required',
  'history_rejected',
  'turn_interrupted',
  'undeliverable_message',
  'blocked',
  'cli_unusable',
  'session_busy',
  'native_history_missing',
  'history_diverged',
  'turn_conflict',
  'stale_handle',
  'non_continuable',
  'non_applicable',
]);

/**
 * Settles a claimed turn without a result: with proof of its end the thread is failed, otherwise it stays as it is. Gives
 * the error that the job ends with.
 */
export async function judgeFailedTurn(failed: FailedTurn): Promise<unknown> {
  const { thread, error, turnId, isEnded, sessionRef } = failed;
  if (sessionRef === undefined) return error;
  if (isCodingThreadError(error) && error.kind === 'thread_native_substituted') return error;
  const why = describeEnd(error);
  if (why === undefined || !isEnded) return uncertain(failed);
  await thread.fail(why, turnId);
  if (isCodingThreadError(error)) return error;
  if (isSubstitution(error)) return substituted(failed);
  return new CodingThreadError(
    'thread_failed',
    `The turn ended without a result: ${why}. Nothing of it was accepted; use a new session.`,
    { sessionRef, evidence: { turnId, failure: why, waitsFor: describeWait(error) } },
    { cause: error },
  );
}

/** What must change outside before another turn helps, as the agent's own error, without what the CLI said of it. */
function describeWait(error: unknown): JsonValue | undefined {
  if (!isTurnError(error)) return undefined;
  if (error.kind === 'auth_required') return toJson(new AuthRequiredError('its turn found none'));
  if (error.kind !== 'rate_limited') return undefined;
  return toJson(new RateLimitedError('its turn ran into it', error.resetAt));
}

function toJson(error: AuthRequiredError | RateLimitedError): JsonValue {
  return JSON.parse(JSON.stringify(error.toJSON()));
}

/** Its kind alone: what the CLI said may hold what somebody wrote. */
function describeEnd(error: unknown): string | undefined {
  if (isCodingThreadError(error)) return PROVES_NOTHING.has(error.kind) ? undefined : error.kind;
  if (!isTurnError(error) && !isContinuationError(error)) return undefined;
  if (!PROVES_AN_END.has(error.kind)) return undefined;
  return 'reason' in error ? `${error.kind} (${error.reason})` : error.kind;
}

/** The thread's own store failed: what stands there is not ours to say any longer. */
const PROVES_NOTHING: ReadonlySet<string> = new Set([
  'thread_busy',
  'thread_unavailable',
  'thread_exists',
]);

function isSubstitution(error: unknown): boolean {
  if (!isContinuationError(error) || error.kind !== 'stale_handle') return false;
  return error.changedField === 'native_session_id';
}

function substituted({ sessionRef, error }: FailedTurn): CodingThreadError {
  return new CodingThreadError(
    'thread_native_substituted',
    'The CLI continued another conversation than the one of this thread; use a new session.',
    { sessionRef },
    { cause: error },
  );
}

function uncertain({ sessionRef, turnId, error, isEnded }: FailedTurn): CodingThreadError {
  const kind = isTurnError(error) || isContinuationError(error) ? error.kind : undefined;
  const cause = kind ?? (isCodingThreadError(error) ? error.kind : 'unknown');
  return new CodingThreadError(
    'thread_uncertain',
    'Nothing proves how the claimed turn ended; inspect the thread before anything else.',
    { sessionRef, evidence: { turnId, cause, isEnded } },
    { cause: error },
  );
}
