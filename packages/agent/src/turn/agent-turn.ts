import type {
  ContentEvent,
  LifecycleEvent,
  TurnEvent,
  TurnEventStamp,
  Usage,
} from '@holdfast/provider-core';
import type { AgentSessionHandle } from '../agent-session-handle.js';

type FinalType = 'completed' | 'failed' | 'resume_unavailable' | 'stale_handle';

/** An event that ends no turn. */
export type RunningTurnEvent = (
  | Exclude<LifecycleEvent, { readonly type: FinalType }>
  | ContentEvent
) &
  TurnEventStamp;

/** The event that ends a turn; exactly one comes, last. */
export type FinalTurnEvent = (
  | Exclude<Extract<LifecycleEvent, { readonly type: FinalType }>, { readonly type: 'completed' }>
  | { readonly type: 'completed'; readonly handle: AgentSessionHandle }
) &
  TurnEventStamp;

/** One event of an agent's turn: provider-core's own, with the agent's handle in `completed`. */
export type AgentTurnEvent = RunningTurnEvent | FinalTurnEvent;

/** What a completed turn gives. */
export interface AgentTurnResult {
  readonly answer: string;
  readonly handle: AgentSessionHandle;
  readonly turnId: string;
  readonly usage?: Usage | undefined;
  readonly stopReason: string;
  /** Whether the session's terminal or process had to be brought back. */
  readonly recovered: boolean;
}

/** A turn that is running: await it for the result, iterate it for the events. It starts at once. */
export interface ComposedTurn<Result> extends PromiseLike<Result>, AsyncIterable<AgentTurnEvent> {
  readonly turnId: string;
  /** Settles as soon as the provider's own id of the session is known and kept. */
  readonly handle: Promise<AgentSessionHandle>;
  /** The events from a sequence number on; 0 when absent. Leaving the loop cancels nothing. */
  events(options?: { readonly from?: number | undefined }): AsyncIterable<AgentTurnEvent>;
  /** Interrupts the turn and resolves when it has settled; what was not sent yet is not sent. */
  interrupt(): Promise<void>;
  catch<Recovered>(
    onRejected: (error: unknown) => Recovered | PromiseLike<Recovered>,
  ): Promise<Result | Recovered>;
  finally(onSettled: () => void): Promise<Result>;
}

/** One turn of an agent: await it for the result, iterate it for the events. */
export type AgentTurn = ComposedTurn<AgentTurnResult>;

/** What a composed turn is made from: a provider's turn, or an agent's. */
export interface TurnPart {
  events(options: { readonly from: number }): AsyncIterable<TurnEvent | AgentTurnEvent>;
  interrupt(): Promise<void>;
}
