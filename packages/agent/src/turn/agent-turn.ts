import type {
  ContentEvent,
  LifecycleEvent,
  SteerResult,
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
  /** Of this turn alone. */
  readonly usage?: Usage | undefined;
  /** Of the whole session, as far as the provider tells. */
  readonly sessionUsage?: Usage | undefined;
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
  /**
   * Puts a text into the running turn, where the provider can take one, and tells what became of it. It falls back to the
   * durable queue only when asked to.
   */
  steer(text: string, options?: SteerOptions): Promise<AgentSteerResult>;
  /** Interrupts the turn and resolves when it has settled; what was not sent yet is not sent. */
  interrupt(): Promise<void>;
  catch<Recovered>(
    onRejected: (error: unknown) => Recovered | PromiseLike<Recovered>,
  ): Promise<Result | Recovered>;
  finally(onSettled: () => void): Promise<Result>;
}

/** One turn of an agent: await it for the result, iterate it for the events. */
export type AgentTurn = ComposedTurn<AgentTurnResult>;

/** What to do with a text that the running turn does not take. */
export interface SteerOptions {
  /** `queue`: keep it in the agent's durable queue, as a turn of its own. Nothing when absent. */
  readonly otherwise?: 'queue' | undefined;
}

/** What became of a text for the running turn; `enqueued` is our own durable queue. */
export interface AgentSteerResult {
  readonly outcome: SteerResult['outcome'] | 'enqueued';
  readonly detail: string;
}

/** What a composed turn is made from: a provider's turn, or an agent's. */
export interface TurnPart {
  events(options: { readonly from: number }): AsyncIterable<TurnEvent | AgentTurnEvent>;
  interrupt(): Promise<void>;
  /** Absent where nothing can be put into a running turn. */
  readonly steer?: ((text: string) => Promise<AgentSteerResult>) | undefined;
}
