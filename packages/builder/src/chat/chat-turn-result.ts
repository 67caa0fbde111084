import type { AgentTurnResult, ComposedTurn } from '@holdfast/agent';

/** What a completed turn of a chat gives. */
export interface ChatTurnResult extends AgentTurnResult {
  readonly chatId: string;
}

/** One turn of a chat: await it for the result, iterate it for the events. */
export type ChatTurn = ComposedTurn<ChatTurnResult>;

/** What a caller may set for one message. */
export interface SendOptions {
  /** The caller's idempotency key, a UUID; made when absent. */
  readonly turnId?: string | undefined;
  /** Aborting it interrupts the turn. */
  readonly signal?: AbortSignal | undefined;
  /** `fail` with `session_busy` when absent, or `wait` for the other owner of the chat or session. */
  readonly whenBusy?: 'fail' | 'wait' | undefined;
  /** What to do with a turn that was taken in and cut off: `fail` (typed error) when absent, or `resume`. */
  readonly onInterrupted?: 'fail' | 'resume' | undefined;
  /** What to do with a draft a person left in the composer; `keep` (and fail) when absent. */
  readonly draft?: 'keep' | 'replace' | undefined;
}
