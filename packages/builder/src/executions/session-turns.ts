import type { AgentTurnResult } from '@holdfast/agent';
import type { SessionOwner } from './execution-owner.js';

/** One message for the session of a chat or an execution. */
export interface SessionMessage {
  readonly owner: SessionOwner;
  /** The idempotency key: the same id and text are never sent twice. */
  readonly turnId: string;
  readonly text: string;
  /** What to do while a turn of that session runs: wait for it, or put the text into it where its provider takes one. */
  readonly whenBusy: 'wait' | 'steer';
  readonly signal: AbortSignal;
  /**
   * Runs the putting of the text into a running turn, where no record of that session could be asked about it afterwards:
   * whoever sends keeps on disk that it was begun. A session that records it itself calls `steer` alone.
   */
  readonly aroundSteer?:
    | (<Result extends { readonly outcome: string }>(
        steer: () => Promise<Result>,
      ) => Promise<Result>)
    | undefined;
}

/** How a message came into a session. */
export type SessionDelivery =
  | { readonly state: 'turn_completed'; readonly result: AgentTurnResult }
  | { readonly state: 'steered' };

/** Sends messages into the sessions of others, one turn at a time for each: the lane decides who is busy. */
export interface SessionTurns {
  /** A chat or execution that is not there is `unknown_chat` or `unknown_execution`; everything else is the turn's own error. */
  readonly send: (message: SessionMessage) => Promise<SessionDelivery>;
}
