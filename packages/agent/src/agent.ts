import {
  type CapturedTerminal,
  type CloseResult,
  isoInstant,
  type Message,
  SessionBusyError,
  type SessionInspection,
  systemClock,
} from '@holdfast/provider-core';
import {
  type AgentOptions,
  type AgentTurnOptions,
  type ConversationTurnOptions,
  checkAgentOptions,
} from './agent-options.js';
import { AgentSession } from './agent-session.js';
import type { AgentSessionHandle } from './agent-session-handle.js';
import { askWithHistory } from './ask-with-history.js';
import { deliverMessage } from './deliver-message.js';
import {
  type ConversationMessage,
  checkConversation,
  checkMessage,
  checkSystemMessages,
} from './message.js';
import type { AgentCloseOptions } from './provider-sessions.js';
import { drainQueue } from './queue/queue-drain.js';
import { addMessage, type QueuedMessage, type QueueState } from './queue/queued-message.js';
import type { AgentTurn, AgentTurnResult } from './turn/agent-turn.js';
import { composeTurn, type TurnStage } from './turn/compose-turn.js';
import { TurnGate } from './turn/turn-gate.js';
import { readTurnId } from './turn/turn-id.js';

/** What is known of an agent's session without touching it. */
export interface AgentInspection {
  readonly handle?: AgentSessionHandle | undefined;
  /** The provider's side; absent while the agent has no session. */
  readonly session?: SessionInspection | undefined;
  /** Messages that wait in the durable queue. */
  readonly queued: number;
  /** Whether a turn of this agent runs. */
  readonly running: boolean;
}

/**
 * One agent session. `askWithHistory` starts it, or continues it natively once there is a handle; which CLI, which
 * pane and which resume flag is nobody's business above. Disposing lets go and leaves the session running.
 */
export class Agent implements AsyncDisposable {
  readonly #session: AgentSession;
  readonly #gate = new TurnGate();
  #draining: Promise<void> | undefined;
  #isDetached = false;

  /** Starts nothing and reads nothing. An option that cannot be used is a TypeError. */
  constructor(options: AgentOptions) {
    checkAgentOptions(options);
    this.#session = new AgentSession(options);
  }

  /**
   * Brings the session up to date with the conversation and answers its last message. User messages the session
   * does not hold yet go one turn each, in order; a conversation that differs from what it holds is
   * `history_diverged`, and nothing is sent. Call it again with the same `turnId` and nothing is sent twice.
   */
  askWithHistory(
    messages: readonly ConversationMessage[],
    options: ConversationTurnOptions = {},
  ): AgentTurn {
    this.#checkConversation(messages);
    return this.#run(options, (stage) =>
      askWithHistory(this.#session, stage, { messages, options }),
    );
  }

  /** Applies a stored handle and sends one message into its session. */
  continueAgentSession(
    handle: AgentSessionHandle,
    message: Message,
    options: AgentTurnOptions = {},
  ): AgentTurn {
    checkMessage(message);
    return this.#run(options, (stage) => this.#continue(stage, handle, message, options));
  }

  /** Applies a stored handle and goes on as {@link Agent.askWithHistory} does. */
  continueAgentSessionWithHistory(
    handle: AgentSessionHandle,
    messages: readonly ConversationMessage[],
    options: ConversationTurnOptions = {},
  ): AgentTurn {
    this.#checkConversation(messages);
    return this.#run(options, (stage) => {
      // A conversation that is given whole needs no handle where the history is ours.
      if (handle || !this.#session.keepsHistory) this.#session.apply(handle);
      return askWithHistory(this.#session, stage, { messages, options });
    });
  }

  /** The newest handle; store it whenever it changes. */
  currentAgentSessionHandle(): AgentSessionHandle | undefined {
    return this.#session.handle;
  }

  /**
   * Makes a stored handle the agent's. Throws before anything changes: `stale_handle` for another provider or another
   * stable setting, `non_continuable` for what is no usable handle, `session_busy` while a turn runs.
   */
  applyAgentSessionHandle(handle: AgentSessionHandle): void {
    if (this.#gate.isBusy) throw new SessionBusyError({ kind: 'ours', pid: process.pid });
    this.#session.apply(handle);
  }

  /** Keeps a message for later: it is on disk when this resolves, and is delivered in order, exactly once. */
  async enqueue(
    message: Message,
    { turnId }: Pick<AgentTurnOptions, 'turnId'> = {},
  ): Promise<QueuedMessage> {
    checkMessage(message);
    this.#checkAttached();
    const queued = { turnId: readTurnId(turnId), message, enqueuedAt: isoInstant(systemClock) };
    const handle = this.#session.handle;
    await this.#session.queue.update((state) =>
      addMessage(handle ? { ...state, handle } : state, queued),
    );
    this.#drainLater();
    return queued;
  }

  /** Delivers what waits in the queue; resolves when it is empty, parked, or another agent's to drain. */
  async drain(): Promise<void> {
    this.#checkAttached();
    while (this.#draining) await this.#draining;
    this.#draining = this.#drain().finally(() => {
      this.#draining = undefined;
    });
    await this.#draining;
  }

  /** Read-only: what is known of the session, its processes and the queue. */
  async inspect(): Promise<AgentInspection> {
    const { handle, provider } = this.#session;
    const { stateDir } = this.#session.options;
    const session = provider && (await this.#session.sessions.inspect(provider, { stateDir }));
    const queued = (await this.#session.queue.load()).messages.length;
    return { handle, session, queued, running: this.#gate.isBusy };
  }

  /** What the session's terminal shows now, for people; `undefined` where there is none to be seen. Read-only. */
  async captureTerminal(): Promise<CapturedTerminal | undefined> {
    const { provider, sessions, options } = this.#session;
    if (!provider) return undefined;
    return await sessions.captureTerminal?.(provider, { stateDir: options.stateDir });
  }

  /**
   * Lets go: no further turn is taken, a running one ends by itself, and the session stays alive. The MCP servers of an
   * agent on a model API end here; until then they are kept between turns, and keep the process alive.
   */
  async detach(): Promise<void> {
    this.#isDetached = true;
    await this.#session.sessions.release?.();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.detach();
  }

  /** Ends every process of the session. `undefined` when there is no session to end. */
  async close(options: AgentCloseOptions = {}): Promise<CloseResult | undefined> {
    const { provider } = this.#session;
    if (!provider) {
      await this.#session.sessions.release?.();
      return undefined;
    }
    const { stateDir } = this.#session.options;
    const result = await this.#session.sessions.close(provider, { ...options, stateDir });
    this.#session.adopt(result.handle);
    return result;
  }

  #continue(
    stage: TurnStage,
    handle: AgentSessionHandle,
    message: Message,
    options: AgentTurnOptions,
  ): Promise<AgentTurnResult> {
    this.#session.apply(handle);
    return deliverMessage(this.#session, stage, { turnId: stage.turnId, message, options });
  }

  #run(options: AgentTurnOptions, body: (stage: TurnStage) => Promise<AgentTurnResult>): AgentTurn {
    this.#checkAttached();
    const { signal, whenBusy } = options;
    const turn = composeTurn<AgentTurnResult>({
      turnId: readTurnId(options.turnId),
      signal,
      enqueue: (text) => this.enqueue(text),
      body: (stage) => this.#gate.pass({ whenBusy, signal: stage.waiting }, () => body(stage)),
    });
    turn.finally(() => this.#drainLater()).catch(() => {});
    return turn;
  }

  #drainLater(): void {
    if (this.#isDetached) return;
    this.drain().catch((error: unknown) => {
      this.#session.options.logger?.warn({ err: error }, 'queue not drained');
    });
  }

  async #drain(): Promise<void> {
    const { agentId } = this.#session.identity;
    if ((await this.#session.queue.load()).messages.length === 0) return;
    await drainQueue({
      queue: this.#session.queue,
      leaseDir: this.#session.layout.queueDrainLease(agentId),
      run: (message, state) => this.#runQueued(message, state),
      currentHandle: () => this.#session.handle,
      isStopped: () => this.#isDetached,
    });
  }

  #runQueued({ turnId, message }: QueuedMessage, { handle }: QueueState): AgentTurn {
    const options: AgentTurnOptions = { turnId, whenBusy: 'wait', onInterrupted: 'resume' };
    const turn = composeTurn<AgentTurnResult>({
      turnId,
      enqueue: (text) => this.enqueue(text),
      body: (stage) =>
        this.#gate.pass({ whenBusy: 'wait', signal: stage.waiting }, () => {
          if (!this.#session.handle && handle) this.#session.apply(handle);
          return deliverMessage(this.#session, stage, { turnId, message, options });
        }),
    });
    this.#session.options.onQueuedTurn?.(turn);
    return turn;
  }

  #checkConversation(messages: readonly ConversationMessage[]): void {
    checkConversation(messages);
    checkSystemMessages(messages, this.#session.options.systemPrompt);
  }

  #checkAttached(): void {
    if (this.#isDetached) throw new TypeError('This agent was detached; make another one.');
  }
}
