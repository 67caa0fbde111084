import type { TurnPosition } from './turn-position.js';

/** What is known when a turn is gone on with. */
export interface CrashSituation {
  readonly at: TurnPosition['at'];
  readonly onInterrupted: 'fail' | 'resume';
  /** Whether the tool's own server says that calling it again changes nothing. */
  readonly isRepeatable: boolean;
}

/** The one thing to do next. */
export type CrashDecision =
  | 'take_message_in'
  | 'replay_outcome'
  /** The turn ends as interrupted, for good: a later turn took its place in the conversation. */
  | 'end_superseded'
  | 'request_step'
  | 'end_turn'
  | 'judge_call'
  | 'ask_again'
  | 'make_call'
  | 'tell_refused'
  /** The same call once more: its server declares it read-only or idempotent. */
  | 'make_call_again'
  /** The model is told that the call's outcome is unknown; the call is not made again. */
  | 'tell_unknown'
  /** `turn_interrupted`, accepted, parked. Nothing is sent and nothing is called. */
  | 'fail_interrupted';

/**
 * What to do at each position; total, and the same for a running turn and one that a crash left.
 *
 * A request to the model that has no answer on record is made again: it changes nothing on our side, and the model keeps
 * no session that could hold it twice. A tool call is another matter: it may have acted, so one without a result is never
 * made again in silence.
 */
export function decideAfterCrash({
  at,
  onInterrupted,
  isRepeatable,
}: CrashSituation): CrashDecision {
  switch (at) {
    case 'unknown':
      return 'take_message_in';
    case 'ended':
      return 'replay_outcome';
    case 'superseded':
      return 'end_superseded';
    case 'step_due':
    case 'step_open':
      return 'request_step';
    case 'answered':
      return 'end_turn';
    case 'call_due':
      return 'judge_call';
    case 'approval_open':
      return 'ask_again';
    case 'call_allowed':
      return 'make_call';
    case 'call_refused':
      return 'tell_refused';
    case 'call_open':
      if (onInterrupted === 'fail') return 'fail_interrupted';
      return isRepeatable ? 'make_call_again' : 'tell_unknown';
  }
}
