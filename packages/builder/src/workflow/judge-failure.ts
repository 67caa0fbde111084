import { isContinuationError, isTurnError, type TurnError } from '@holdfast/agent';
import { isCodingThreadError } from '../threads/coding-thread-error.js';
import { type CodingStageError, isCodingStageError } from '../threads/stages/stage-error.js';
import type { Suspension } from './continuation-state.js';
import { isWorkflowError } from './workflow-error.js';

/** What a failed try of a phase means. */
export type FailureVerdict =
  /** The world must change first; no attempt is counted. Without `until` the caller knows no better than to look again. */
  | {
      readonly type: 'suspend';
      readonly reason: Suspension['reason'];
      readonly until?: string | undefined;
    }
  | { readonly type: 'retry' }
  | { readonly type: 'fail' };

/** Judges the error of one try. Pure, and total: what nobody knows is tried again, a bounded number of times. */
export function judgeFailure(error: unknown): FailureVerdict {
  if (isContinuationError(error)) return { type: 'fail' };
  if (isTurnError(error)) return judgeTurnError(error);
  if (isCodingThreadError(error)) return { type: error.retry === 'same' ? 'retry' : 'fail' };
  if (isCodingStageError(error)) return judgeStageError(error);
  // Of ours, all that can come from within a phase are final.
  return isWorkflowError(error) ? { type: 'fail' } : { type: 'retry' };
}

/** A stage that waits for something outside waits like a turn would. */
function judgeStageError({ isFinal, cause }: CodingStageError): FailureVerdict {
  if (isFinal) return { type: 'fail' };
  return isTurnError(cause) ? judgeTurnError(cause) : { type: 'retry' };
}

function judgeTurnError(error: TurnError): FailureVerdict {
  switch (error.kind) {
    case 'rate_limited':
      return { type: 'suspend', reason: 'rate_limited', until: error.resetAt };
    case 'auth_required':
    case 'session_busy':
    case 'cli_unusable':
      return { type: 'suspend', reason: error.kind };
    case 'timed_out':
    case 'uncertain_delivery':
    case 'state_unusable':
      return { type: 'retry' };
    case 'turn_interrupted':
      // A turn that somebody ended for good gives the same error for ever.
      return { type: error.isFinal ? 'fail' : 'retry' };
    case 'provider_failed':
      return { type: FINAL_REASONS.has(error.reason) ? 'fail' : 'retry' };
    case 'undeliverable_message':
    case 'turn_conflict':
    case 'history_diverged':
    case 'history_rejected':
    case 'native_history_missing':
    case 'blocked':
      return { type: 'fail' };
  }
}

const FINAL_REASONS: ReadonlySet<string> = new Set([
  'context_too_long',
  'refusal',
  'model_not_found',
]);
