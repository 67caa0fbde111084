import type { TurnReadingState } from './read-turn.js';

/** Everything the decision rests on: our journal, the provider's record, and the process. */
export interface CrashState {
  readonly journal: JournalState;
  readonly record: TurnReadingState | 'untrustworthy';
  readonly process: 'gone' | 'idle' | 'busy' | 'waiting' | 'unknown';
  readonly nativeIdChanged: boolean;
  /** No tool can have run before the message is durable: the barrier is certified for this version. */
  readonly durableBeforeTools: boolean;
  /** The provider's failure of this turn was already raised once to the caller. */
  readonly failureRaised: boolean;
  readonly onInterrupted: 'fail' | 'resume';
}

/** How far the journal says that a turn came. */
export type JournalState = 'none' | 'prepared' | 'submitting' | 'accepted' | 'ended';

/** What to do next. Only the first four ever put bytes of a message into a provider. */
export type CrashDecision =
  | 'send'
  | 'go_on_from_open'
  | 'press_or_prove_empty'
  | 'nudge'
  | 'finish_interrupted'
  | 'wait'
  | 'return_recorded'
  | 'raise_failure'
  | 'fail_interrupted'
  | 'refuse_undeliverable'
  | 'uncertain'
  | 'stale'
  | 'replay';

/** The table of DESIGN §5, total: what it does not name sends nothing. */
export function decideAfterCrash(state: CrashState): CrashDecision {
  if (state.journal === 'ended') return 'replay';
  if (state.nativeIdChanged) return 'stale';
  switch (state.journal) {
    case 'none':
      return 'send';
    case 'prepared':
      return 'go_on_from_open';
    case 'submitting':
      return decideSubmitting(state);
    case 'accepted':
      return decideAccepted(state);
  }
}

function decideSubmitting(state: CrashState): CrashDecision {
  if (state.record === 'untrustworthy') return 'uncertain';
  if (state.record === 'blocked') return 'refuse_undeliverable';
  // The record holds the message: the crash came between acceptance and its journal line.
  if (state.record !== 'no_message') return decideAccepted(state);
  switch (state.process) {
    case 'gone':
      return state.durableBeforeTools ? 'send' : 'uncertain';
    case 'idle':
      return 'press_or_prove_empty';
    case 'busy':
    case 'waiting':
      return 'wait';
    case 'unknown':
      return 'uncertain';
  }
}

function decideAccepted(state: CrashState): CrashDecision {
  switch (state.record) {
    case 'untrustworthy':
      return 'uncertain';
    case 'ended':
      return 'return_recorded';
    case 'failed':
      return state.failureRaised ? 'nudge' : 'raise_failure';
    case 'open':
      return decideOpen(state);
    case 'interrupted':
    case 'abandoned':
    // Accepted once and no longer there: the branch that held it is not the active one.
    case 'no_message':
      return state.process === 'busy' || state.process === 'waiting' || state.process === 'unknown'
        ? 'wait'
        : interrupted(state, 'nudge');
    case 'blocked':
      return 'refuse_undeliverable';
  }
}

function decideOpen(state: CrashState): CrashDecision {
  switch (state.process) {
    case 'busy':
    case 'waiting':
    case 'unknown':
      return 'wait';
    case 'gone':
      return interrupted(state, 'finish_interrupted');
    case 'idle':
      return interrupted(state, 'nudge');
  }
}

function interrupted(state: CrashState, resumed: CrashDecision): CrashDecision {
  return state.onInterrupted === 'resume' ? resumed : 'fail_interrupted';
}
