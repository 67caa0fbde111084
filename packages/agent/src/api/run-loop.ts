import {
  checkWellFormedText,
  errorFromJson,
  ProviderFailedError,
  TurnInterruptedError,
} from '@holdfast/provider-core';
import { type CrashDecision, decideAfterCrash } from './decide-after-crash.js';
import { runStep, textOf } from './run-step.js';
import { judgeCall, makeCall, tellRefused, tellUnknown } from './run-tool-call.js';
import { settleApproval } from './settle-approval.js';
import type { TranscriptOutcome } from './transcript-record.js';
import { record, type TurnContext, turnOf } from './turn-context.js';
import { type CallPosition, readPosition, type TurnPosition } from './turn-position.js';

/** How a completed turn ended. */
export type CompletedOutcome = Extract<TranscriptOutcome, { readonly status: 'completed' }>;

const DEFAULT_MAX_STEPS = 100;

/**
 * Brings a turn to its end: looks where its transcript stands, does the one thing that is due, and looks again. A turn
 * that a crash left is gone on with by the same loop.
 */
export async function runLoop(context: TurnContext): Promise<CompletedOutcome> {
  const { maxSteps = DEFAULT_MAX_STEPS } = context.config;
  for (let steps = 0; ; ) {
    context.signal.throwIfAborted();
    const position = positionOf(context);
    const decision = decide(context, position);
    if (decision === 'request_step') steps += 1;
    if (steps > maxSteps) throw tooManySteps(maxSteps);
    const outcome = await act(context, decision, position);
    if (outcome) return outcome;
  }
}

/** Where the turn stands. */
export function positionOf(context: TurnContext): TurnPosition {
  const turn = turnOf(context);
  return readPosition(turn, turn !== undefined && context.transcript.state.isSuperseded(turn));
}

function decide({ options, tools }: TurnContext, position: TurnPosition): CrashDecision {
  const { onInterrupted } = options;
  const traits = 'call' in position ? tools.get(position.call.toolName)?.traits : undefined;
  const isRepeatable = traits !== undefined && (traits.isReadOnly || traits.isIdempotent);
  return decideAfterCrash({ at: position.at, onInterrupted, isRepeatable });
}

async function act(
  context: TurnContext,
  decision: CrashDecision,
  position: TurnPosition,
): Promise<CompletedOutcome | undefined> {
  switch (decision) {
    case 'take_message_in':
      await takeMessageIn(context);
      return undefined;
    case 'request_step':
      await runStep(context, stepOf(position));
      return undefined;
    case 'end_turn':
      return endTurn(context);
    case 'replay_outcome':
      return replay(turnOf(context)?.outcome);
    case 'end_superseded':
      throw await endSuperseded(context);
    case 'fail_interrupted':
      throw interruptedCall(callOf(position));
    default:
      await callActions[decision](context, callOf(position));
      return undefined;
  }
}

const callActions = {
  judge_call: judgeCall,
  ask_again: settleApproval,
  make_call: makeCall,
  make_call_again: makeCall,
  tell_refused: tellRefused,
  tell_unknown: tellUnknown,
} as const;

async function takeMessageIn(context: TurnContext): Promise<void> {
  const { turnId, messageDigest, message } = context;
  // Before it is on record: what a model cannot be sent would spoil every later step of the session.
  for (const part of message) {
    if (part.type === 'text') checkWellFormedText(part.text, 'The message');
  }
  await record(context, { type: 'turn_started', turnId, messageDigest, message });
}

async function endTurn(context: TurnContext): Promise<CompletedOutcome> {
  const { turnId, recovered, transcript } = context;
  const turn = turnOf(context);
  const last = turn?.steps.at(-1)?.finished;
  if (!last) throw new Error('unreachable: a turn that is answered has a finished step');
  const { content, stopReason } = last;
  const outcome: CompletedOutcome = {
    status: 'completed',
    answer: textOf(content),
    usage: turn?.usage,
    sessionUsage: transcript.state.usage,
    stopReason,
    recovered,
  };
  await record(context, { type: 'turn_ended', turnId, outcome });
  return outcome;
}

/** What was recorded, again: the answer, or the error it ended with. */
export function replay(outcome: TranscriptOutcome | undefined): CompletedOutcome {
  if (outcome?.status === 'completed') return outcome;
  const error = errorFromJson(outcome?.error);
  throw error ?? new Error('unreachable: a turn ends with an answer or with one of our errors');
}

async function endSuperseded(context: TurnContext): Promise<TurnInterruptedError> {
  const why =
    'it was cut off, and a later message went into the conversation before it was finished';
  const error = new TurnInterruptedError({ accepted: true, inHistory: true, isFinal: true, why });
  error.turnId = context.turnId;
  const outcome = { status: 'interrupted', error: error.toJSON() } as const;
  await record(context, { type: 'turn_ended', turnId: context.turnId, outcome });
  return error;
}

function interruptedCall({ call }: CallPosition): TurnInterruptedError {
  const why = `it was cut off while the tool ${call.toolName} ran, and whether the tool took effect is not known`;
  return new TurnInterruptedError({ accepted: true, inHistory: true, why });
}

function tooManySteps(maxSteps: number): ProviderFailedError {
  const detail = `the model asked for tools ${maxSteps} times without an answer (maxSteps)`;
  return new ProviderFailedError('unknown', detail);
}

function stepOf(position: TurnPosition): number {
  if ('step' in position && typeof position.step === 'number') return position.step;
  throw new Error('unreachable: only a turn that waits for the model makes a request');
}

function callOf(position: TurnPosition): CallPosition {
  if ('call' in position) return position;
  throw new Error('unreachable: this decision is about a tool call');
}
