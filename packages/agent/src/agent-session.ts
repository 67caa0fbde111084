import { randomUUID } from 'node:crypto';
import {
  type CodingProviderSessionHandle,
  defaultStateDir,
  NonContinuableError,
  type SessionConfig,
  StaleHandleError,
} from '@holdfast/provider-core';
import { type AgentLayout, agentLayout } from './agent-layout.js';
import { type AgentOptions, identityOf, sessionConfigOf } from './agent-options.js';
import type { AgentIdentity, AgentSessionHandle } from './agent-session-handle.js';
import { decodeAgentSessionHandle, fillIdentity } from './agent-session-handle.wire.js';
import { createHistoryStore, type HistoryStore } from './history/history-store.js';
import { type ProviderSessions, providerCoreSessions } from './provider-sessions.js';
import { createMessageQueue, type MessageQueue } from './queue/message-queue.js';

/** The one session an agent has: its configuration, its identity, and its newest handle. */
export class AgentSession {
  readonly options: AgentOptions;
  readonly config: SessionConfig;
  readonly layout: AgentLayout;
  readonly history: HistoryStore;
  readonly sessions: ProviderSessions;
  readonly queue: MessageQueue;
  readonly #given: Partial<AgentIdentity>;
  #identity: AgentIdentity;
  #handle: AgentSessionHandle | undefined;
  #rememberedNativeId: string | undefined;

  constructor(options: AgentOptions) {
    this.options = options;
    this.config = sessionConfigOf(options);
    this.layout = agentLayout(options.stateDir ?? defaultStateDir());
    this.history = createHistoryStore(this.layout);
    this.sessions = options.sessions ?? providerCoreSessions;
    this.#given = identityOf(options);
    this.#identity = fillIdentity(this.#given, { sessionId: randomUUID() });
    this.queue = createMessageQueue(this.layout, this.#identity.agentId);
  }

  get identity(): AgentIdentity {
    return this.#identity;
  }

  get handle(): AgentSessionHandle | undefined {
    return this.#handle;
  }

  /** Takes a stored handle, or throws before anything changes. */
  apply(value: unknown): AgentSessionHandle {
    const handle = decodeAgentSessionHandle(value, this.#given);
    const { provider } = handle;
    if (provider.provider !== this.options.provider) {
      throw new StaleHandleError(provider.provider, 'provider');
    }
    if (provider.nativeSessionId === undefined) {
      throw new NonContinuableError(provider.provider, 'native_session_id');
    }
    this.sessions.checkConfig(provider, this.config);
    this.#identity = fillIdentity({ ...handle, ...this.#given }, {});
    this.#handle = { ...handle, ...this.#identity };
    return this.#handle;
  }

  /** Takes the provider's newest handle of this session. An older revision changes nothing. */
  adopt(provider: CodingProviderSessionHandle): AgentSessionHandle {
    const known = this.#handle;
    const isSame = known?.provider.nativeSessionId === provider.nativeSessionId;
    const isOlder = (provider.revision ?? 0) < (known?.provider.revision ?? 0);
    if (known && isSame && isOlder) return known;
    this.#handle = { ...known, ...this.#identity, provider };
    return this.#handle;
  }

  /**
   * Keeps the session beside the agent's queue, so that a queued message never starts another one in a process that
   * does not know it. An agent without a name of its own has no such process.
   */
  async remember(handle: AgentSessionHandle): Promise<void> {
    const { nativeSessionId } = handle.provider;
    if (this.#given.agentId === undefined || nativeSessionId === this.#rememberedNativeId) return;
    await this.queue.update((state) => ({ ...state, handle }));
    this.#rememberedNativeId = nativeSessionId;
  }

  /** The agent's handle around a provider's, without taking it. */
  wrap(provider: CodingProviderSessionHandle): AgentSessionHandle {
    return { ...this.#handle, ...this.#identity, provider };
  }
}
