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
import { createApiHistory } from './api/api-history.js';
import type { ApiSessions } from './api/api-sessions.js';
import { apiSessionsOf } from './api/create-api-sessions.js';
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
  readonly #api: ApiSessions | undefined;
  readonly #given: Partial<AgentIdentity>;
  #identity: AgentIdentity;
  #handle: AgentSessionHandle | undefined;
  #rememberedNativeId: string | undefined;

  constructor(options: AgentOptions) {
    this.options = options;
    this.config = sessionConfigOf(options);
    this.layout = agentLayout(options.stateDir ?? defaultStateDir());
    this.#api = apiSessionsOf(options);
    this.history = this.#api ? createApiHistory(this.#api) : createHistoryStore(this.layout);
    this.sessions = options.sessions ?? this.#api ?? providerCoreSessions;
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

  /** Whether the conversation is kept by us: a model API keeps none. */
  get keepsHistory(): boolean {
    return this.#api !== undefined;
  }

  /** The handle for the layer that drives the session: there, the session id of a model API is its native id. */
  get provider(): CodingProviderSessionHandle | undefined {
    const handle = this.#handle;
    if (!handle || !this.#api) return handle?.provider;
    return { ...handle.provider, nativeSessionId: handle.sessionId };
  }

  /** Takes a stored handle, or throws before anything changes. */
  apply(value: unknown): AgentSessionHandle {
    if (this.#api && (value === undefined || value === null)) {
      throw new NonContinuableError(this.options.provider, 'history', 'there is no handle');
    }
    const handle = decodeAgentSessionHandle(value, this.#given);
    const { provider } = handle;
    if (provider.provider !== this.options.provider) {
      throw new StaleHandleError(provider.provider, 'provider');
    }
    if (this.#api) return this.#applyApi(this.#api, decodeAgentSessionHandle(value));
    if (provider.nativeSessionId === undefined) {
      throw new NonContinuableError(provider.provider, 'native_session_id');
    }
    this.sessions.checkConfig(provider, this.config);
    this.#identity = fillIdentity({ ...handle, ...this.#given }, {});
    this.#handle = { ...handle, ...this.#identity };
    return this.#handle;
  }

  /** The session id names the transcript: it is the handle's, whatever the agent was made with. */
  #applyApi(api: ApiSessions, handle: AgentSessionHandle): AgentSessionHandle {
    const { provider, sessionId } = handle;
    if (provider.transport !== 'api') throw new NonContinuableError(provider.provider, 'transport');
    api.checkConfig({ ...provider, nativeSessionId: sessionId });
    this.#identity = fillIdentity({ ...handle, ...this.#given, sessionId }, {});
    this.#handle = { ...handle, ...this.#identity, provider: outward(provider) };
    return this.#handle;
  }

  /** Finds the session that the caller named, where its transcript is there already. */
  async findNamed(): Promise<void> {
    const { sessionId } = this.#given;
    if (!this.#api || this.#handle || sessionId === undefined) return;
    const found = await this.#api.find(sessionId);
    if (found) this.adopt(found.handle());
  }

  /** Takes the provider's newest handle of this session. An older revision changes nothing. */
  adopt(provider: CodingProviderSessionHandle): AgentSessionHandle {
    const known = this.#handle;
    const isSame = this.provider?.nativeSessionId === provider.nativeSessionId;
    const isOlder = (provider.revision ?? 0) < (known?.provider.revision ?? 0);
    if (known && isSame && isOlder) return known;
    this.#handle = this.wrap(provider);
    this.#identity = fillIdentity(this.#handle, {});
    return this.#handle;
  }

  /**
   * Keeps the session beside the agent's queue, so that a queued message never starts another one in a process that
   * does not know it. An agent without a name of its own has no such process.
   */
  async remember(handle: AgentSessionHandle): Promise<void> {
    const nativeSessionId = this.#api ? handle.sessionId : handle.provider.nativeSessionId;
    if (this.#given.agentId === undefined || nativeSessionId === this.#rememberedNativeId) return;
    await this.queue.update((state) => ({ ...state, handle }));
    this.#rememberedNativeId = nativeSessionId;
  }

  /** The agent's handle around a provider's, without taking it. */
  wrap(provider: CodingProviderSessionHandle): AgentSessionHandle {
    const { nativeSessionId: sessionId = this.#identity.sessionId } = provider;
    if (!this.#api) return { ...this.#handle, ...this.#identity, provider };
    return { ...this.#handle, ...this.#identity, sessionId, provider: outward(provider) };
  }
}

/** A model API has no session of its own: outside, `session_id` names it. */
function outward({ nativeSessionId: _ours, ...provider }: CodingProviderSessionHandle) {
  return provider;
}
