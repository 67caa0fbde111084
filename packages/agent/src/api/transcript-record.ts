import type {
  DecidedBy,
  ErrorJson,
  ModelAssistantPart,
  ModelMessage,
  ModelUserPart,
  Usage,
} from '@holdfast/provider-core';

/** How a turn of an API agent ended for good; replayed byte for byte. */
export type TranscriptOutcome =
  | {
      readonly status: 'completed';
      readonly answer: string;
      readonly usage?: Usage | undefined;
      /** Of the whole session, when the turn ended. */
      readonly sessionUsage?: Usage | undefined;
      readonly stopReason: string;
      readonly recovered: boolean;
    }
  | { readonly status: 'interrupted'; readonly error: ErrorJson };

/** The first line of a transcript: what the session is, and the conversation it took over. */
export interface SessionOpened {
  readonly type: 'session_opened';
  readonly sessionId: string;
  readonly provider: string;
  readonly model: string;
  readonly stableFields: Readonly<Record<string, string>>;
  readonly workingDir?: string | undefined;
  /** What was said before this session began, as the caller gave it. */
  readonly conversation: readonly ModelMessage[];
}

interface InTurn {
  readonly turnId: string;
}

interface InStep extends InTurn {
  /** From 1, within the turn. */
  readonly step: number;
}

interface InCall extends InStep {
  readonly callId: string;
}

/**
 * One line of a transcript, in the order things happened. What stands before a request or a tool call says that it may
 * have happened; what stands after it says that it did.
 */
export type TranscriptRecord = (
  | SessionOpened
  | (InTurn & {
      readonly type: 'turn_started';
      readonly messageDigest: string;
      readonly message: readonly ModelUserPart[];
    })
  | (InStep & { readonly type: 'step_started' })
  | (InStep & {
      readonly type: 'step_finished';
      readonly content: readonly ModelAssistantPart[];
      readonly usage?: Usage | undefined;
      readonly stopReason: string;
    })
  /** The model ended the step with nothing that may be kept: a refusal, no answer, a call cut short. */
  | (InStep & {
      readonly type: 'step_discarded';
      readonly usage?: Usage | undefined;
      readonly stopReason: string;
    })
  | (InCall & {
      readonly type: 'approval_requested';
      readonly requestId: string;
      readonly toolName: string;
      readonly detail: string;
    })
  | (InCall & {
      readonly type: 'approval_settled';
      readonly requestId: string;
      readonly decision: 'allow' | 'deny';
      readonly by: DecidedBy;
      readonly message?: string | undefined;
      /** What the host put in place of the model's input; absent when it changed nothing. */
      readonly updatedInput?: unknown;
    })
  | (InCall & { readonly type: 'tool_call_started'; readonly toolName: string })
  | (InCall & {
      readonly type: 'tool_call_finished';
      readonly output: string;
      readonly isError: boolean;
      /** `called`, `denied` (never called), or `unknown`: it was called, and nobody saw the end. */
      readonly ending: CallEnding;
    })
  | (InTurn & { readonly type: 'turn_parked'; readonly error: ErrorJson })
  | (InTurn & {
      readonly type: 'turn_ended';
      readonly outcome: TranscriptOutcome;
      /** Only where the turn ended before it was taken in. */
      readonly messageDigest?: string | undefined;
    })
  | { readonly type: 'session_closed'; readonly archived: boolean }
) & { readonly at: string };

/** What became of a tool call. */
export type CallEnding = 'called' | 'denied' | 'unknown';

/** A record before it has its instant. */
export type TranscriptBody = TranscriptRecord extends infer One
  ? One extends TranscriptRecord
    ? Omit<One, 'at'>
    : never
  : never;
