import type { ModelToolCall } from '@holdfast/provider-core';
import type { CallState, StepState, TurnState } from './transcript-state.js';

/**
 * Where a turn stands, read from its transcript alone. A turn that runs and one that a crash left look the same here: the
 * loop asks for the position before everything it does.
 */
export type TurnPosition =
  /** The transcript does not hold the turn. */
  | { readonly at: 'unknown' }
  | { readonly at: 'ended' }
  /** A later message came in behind a turn that never ended. */
  | { readonly at: 'superseded' }
  /** The conversation waits for the model. */
  | { readonly at: 'step_due'; readonly step: number }
  /** A request may have gone out, and no answer of it is on record. */
  | { readonly at: 'step_open'; readonly step: number }
  /** The model said its last word; only the turn's end is missing. */
  | { readonly at: 'answered'; readonly step: StepState }
  | CallPosition;

/** A position that is about one tool call: the first of the step that has no result yet. */
export interface CallPosition {
  readonly at:
    | 'call_due'
    /** Somebody was asked, and no answer is on record. */
    | 'approval_open'
    | 'call_allowed'
    | 'call_refused'
    /** The call may have been made, and no end of it is on record. */
    | 'call_open';
  readonly step: number;
  readonly call: ModelToolCall;
  readonly state: CallState;
}

/** Reads where a turn stands. Pure. */
export function readPosition(turn: TurnState | undefined, isSuperseded: boolean): TurnPosition {
  if (!turn) return { at: 'unknown' };
  if (turn.outcome) return { at: 'ended' };
  if (isSuperseded) return { at: 'superseded' };
  const step = turn.steps.at(-1);
  if (!step) return { at: 'step_due', step: 1 };
  if (step.discarded) return { at: 'step_due', step: step.step + 1 };
  if (!step.finished) return { at: 'step_open', step: step.step };
  return readStep(step, step.finished.content.filter(isToolCall));
}

/** Tells a tool call from what else the model says. */
export function isToolCall(part: { readonly type: string }): part is ModelToolCall {
  return part.type === 'tool_call';
}

function readStep(step: StepState, calls: readonly ModelToolCall[]): TurnPosition {
  if (calls.length === 0) return { at: 'answered', step };
  const call = calls.find(({ callId }) => !step.calls.get(callId)?.finished);
  if (!call) return { at: 'step_due', step: step.step + 1 };
  const state = step.calls.get(call.callId) ?? { started: false };
  return { at: readCall(state), step: step.step, call, state };
}

function readCall({ started, approval }: CallState): CallPosition['at'] {
  if (started) return 'call_open';
  if (!approval) return 'call_due';
  if (!approval.settled) return 'approval_open';
  return approval.settled.decision === 'allow' ? 'call_allowed' : 'call_refused';
}
