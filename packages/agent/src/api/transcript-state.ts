import type { ErrorJson, ModelAssistantPart, ModelUserPart, Usage } from '@holdfast/provider-core';
import type {
  CallEnding,
  SessionOpened,
  TranscriptOutcome,
  TranscriptRecord,
} from './transcript-record.js';
import { addUsage } from './usage.js';

/** One tool call, as far as the transcript tells. */
export interface CallState {
  /** It was made, once or more. */
  started: boolean;
  finished?: { readonly output: string; readonly isError: boolean; readonly ending: CallEnding };
  approval?: {
    readonly requestId: string;
    readonly detail: string;
    settled?: Extract<TranscriptRecord, { readonly type: 'approval_settled' }>;
  };
}

/** One request to the model, as far as the transcript tells. */
export interface StepState {
  readonly step: number;
  finished?: {
    readonly content: readonly ModelAssistantPart[];
    readonly stopReason: string;
  };
  discarded: boolean;
  readonly calls: Map<string, CallState>;
}

/** One turn, as far as the transcript tells. */
export interface TurnState {
  readonly turnId: string;
  readonly messageDigest: string;
  /** Absent where the turn ended before it was taken in: the model never sees it. */
  readonly message?: readonly ModelUserPart[] | undefined;
  readonly steps: StepState[];
  usage?: Usage | undefined;
  parked?: ErrorJson | undefined;
  outcome?: TranscriptOutcome | undefined;
}

/** What a transcript says, folded line by line. A line that belongs nowhere is left out. */
export class TranscriptState {
  header: (SessionOpened & { readonly at: string }) | undefined;
  archived = false;
  closed = false;
  usage: Usage | undefined;
  /** Grows with every line: the handle's revision. */
  revision = 0;
  readonly #turns = new Map<string, TurnState>();

  /** In the order in which they came in. */
  get turns(): Iterable<TurnState> {
    return this.#turns.values();
  }

  get lastTurn(): TurnState | undefined {
    return this.#lastTurn;
  }
  #lastTurn: TurnState | undefined;

  turn(turnId: string): TurnState | undefined {
    return this.#turns.get(turnId);
  }

  /** Whether a later message was taken in after this turn's. */
  isSuperseded(turn: TurnState): boolean {
    return turn !== this.#lastTurn;
  }

  apply(record: TranscriptRecord): void {
    this.revision += 1;
    if (record.type === 'session_opened') this.header ??= record;
    else if (record.type === 'session_closed') this.#close(record.archived);
    else this.#applyToTurn(record);
  }

  #close(archived: boolean): void {
    this.closed = true;
    this.archived ||= archived;
  }

  #applyToTurn(record: TurnRecord): void {
    const turn = this.#turns.get(record.turnId);
    if (record.type === 'turn_started') this.#startTurn(record);
    else if (record.type === 'turn_ended') this.#endTurn(record, turn);
    else if (turn && !turn.outcome) this.#applyToOpenTurn(turn, record);
  }

  #applyToOpenTurn(turn: TurnState, record: StepRecord | RecordOf<'turn_parked'>): void {
    if (record.type === 'turn_parked') turn.parked = record.error;
    else this.#applyToStep(turn, record);
  }

  #startTurn({ turnId, messageDigest, message }: RecordOf<'turn_started'>): void {
    if (this.#turns.has(turnId)) return;
    this.closed = false;
    this.#lastTurn = { turnId, messageDigest, message, steps: [] };
    this.#turns.set(turnId, this.#lastTurn);
  }

  #endTurn(record: RecordOf<'turn_ended'>, turn: TurnState | undefined): void {
    const { turnId, outcome, messageDigest } = record;
    if (turn) turn.outcome ??= outcome;
    else if (messageDigest) {
      this.#turns.set(turnId, { turnId, messageDigest, steps: [], outcome });
    }
  }

  #applyToStep(turn: TurnState, record: StepRecord): void {
    if (record.type === 'step_started') {
      turn.parked = undefined;
      if (turn.steps.at(-1)?.step === record.step) return;
      turn.steps.push({ step: record.step, discarded: false, calls: new Map() });
      return;
    }
    const step = turn.steps.find((one) => one.step === record.step);
    if (!step) return;
    if (record.type === 'step_finished' || record.type === 'step_discarded') {
      this.#finishStep(turn, step, record);
    } else applyToCall(step, record);
  }

  #finishStep(
    turn: TurnState,
    step: StepState,
    record: RecordOf<'step_finished' | 'step_discarded'>,
  ): void {
    if (step.finished || step.discarded) return;
    turn.usage = addUsage(turn.usage, record.usage);
    this.usage = addUsage(this.usage, record.usage);
    if (record.type === 'step_discarded') step.discarded = true;
    else step.finished = { content: record.content, stopReason: record.stopReason };
  }
}

type RecordOf<Type extends TranscriptRecord['type']> = Extract<
  TranscriptRecord,
  { readonly type: Type }
>;

type TurnRecord = Extract<TranscriptRecord, { readonly turnId: string }>;
type StepRecord = Extract<TurnRecord, { readonly step: number }>;
type CallRecord = Extract<StepRecord, { readonly callId: string }>;

function applyToCall(step: StepState, record: CallRecord): void {
  const call = step.calls.get(record.callId) ?? { started: false };
  step.calls.set(record.callId, call);
  switch (record.type) {
    case 'approval_requested':
      call.approval ??= { requestId: record.requestId, detail: record.detail };
      return;
    case 'approval_settled':
      if (call.approval) call.approval.settled ??= record;
      return;
    case 'tool_call_started':
      call.started = true;
      return;
    case 'tool_call_finished':
      call.finished ??= record;
  }
}
