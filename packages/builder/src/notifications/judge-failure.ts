import { isContinuationError, isTurnError, type TurnError } from '@holdfast/agent';
import { isChatError } from '../chat/chat-error.js';
import { isWorkflowError } from '../workflow/workflow-error.js';

/** What a failed try into a session means for its notification. */
export type FailureVerdict =
  /** Tried again with the same turn id, a bounded number of times. */
  | { readonly next: 'retry' }
  /** The session cannot take it yet; no attempt is counted. */
  | { readonly next: 'wait'; readonly until?: string | undefined }
  /** No further try can succeed. */
  | { readonly next: 'give_up' }
  /** The session has it, though its turn did not end well. */
  | { readonly next: 'delivered' };

const RETRY: FailureVerdict = { next: 'retry' };
const GIVE_UP: FailureVerdict = { next: 'give_up' };

/** Judges the error of one try. Pure. */
export function judgeFailure(error: unknown): FailureVerdict {
  // A chat or execution that is not there, is stopped, or whose agent nobody registered; a handle that finds nothing.
  if (isContinuationError(error) || isChatError(error) || isWorkflowError(error)) return GIVE_UP;
  return isTurnError(error) ? judgeTurnError(error) : RETRY;
}

function judgeTurnError(error: TurnError): FailureVerdict {
  switch (error.kind) {
    case 'rate_limited':
      return { next: 'wait', until: error.resetAt };
    case 'auth_required':
    case 'session_busy':
      return { next: 'wait' };
    case 'turn_interrupted':
      if (!error.isFinal) return RETRY;
      return error.inHistory ? { next: 'delivered' } : GIVE_UP;
    case 'provider_failed':
      return PERMANENT.has(error.reason) ? GIVE_UP : RETRY;
    case 'turn_conflict':
    case 'undeliverable_message':
    case 'history_diverged':
    case 'history_rejected':
    case 'native_history_missing':
      return GIVE_UP;
    // An uncertain message among them: it is looked up under its id, and never sent twice.
    default:
      return RETRY;
  }
}

const PERMANENT: ReadonlySet<string> = new Set(['context_too_long', 'refusal', 'model_not_found']);
