import { isAbsolute } from 'node:path';
import {
  type ApprovalHandler,
  type ConfigOf,
  findModelProvider,
  findProvider,
  type Logger,
  type ModelProviderId,
  type ProviderId,
  type SessionConfig,
  type TransportChoice,
  type TurnLimits,
} from '@holdfast/provider-core';
import type { AgentIdentity, AgentScope, AgentSessionHandle } from './agent-session-handle.js';
import { type ApiAgentConfig, sessionConfigOfApi } from './api/api-config.js';
import type { ProviderSessions } from './provider-sessions.js';
import type { AgentTurn } from './turn/agent-turn.js';

/**
 * What an agent is made of: a provider with its own stable configuration, and who it belongs to. An option that the
 * provider does not have is a compile error.
 */
export type AgentOptions = CliAgentOptions | ApiAgentOptions;

/** An agent on a coding CLI, which keeps the conversation itself. */
export type CliAgentOptions = {
  [Id in ProviderId]: AgentSettings &
    ConfigOf<Id> & {
      readonly provider: Id;
      /** `auto` when absent: tmux where it is installed and the provider claims it. */
      readonly transport?: TransportChoice | undefined;
    };
}[ProviderId];

/** An agent on a model API: the conversation, the tools and the loop are ours. */
export interface ApiAgentOptions extends AgentSettings, ApiAgentConfig {
  readonly provider: ModelProviderId;
  /** `auto` and `api` are the same: there is no other. */
  readonly transport?: 'api' | 'auto' | undefined;
}

/** The part of {@link AgentOptions} that is the same for every provider. */
export interface AgentSettings {
  /** Names the agent and its durable queue; made up when absent, and then the queue dies with the process. */
  readonly agentId?: string | undefined;
  /** Our own id of the session; made up when absent. */
  readonly sessionId?: string | undefined;
  /** The logical owner above; the session id when absent. */
  readonly ownerId?: string | undefined;
  /** `chat` when absent. */
  readonly scope?: AgentScope | undefined;
  /** Ties the session to whatever asked for it; the session id when absent. */
  readonly correlationId?: string | undefined;
  /** Where state is kept; `$XDG_STATE_HOME/holdfast` when absent. */
  readonly stateDir?: string | undefined;
  readonly logger?: Logger | undefined;
  readonly limits?: Partial<TurnLimits> | undefined;
  /** Answers the provider's approvals and questions; without it the tool policy decides and nothing waits. */
  readonly onApproval?: ApprovalHandler | undefined;
  /** Called with the turn of every queued message as it starts. */
  readonly onQueuedTurn?: ((turn: AgentTurn) => void) | undefined;
  /** How provider sessions are driven; provider-core's own when absent. Tests hand in theirs. */
  readonly sessions?: ProviderSessions | undefined;
}

/** What a caller may set for one turn. */
export interface AgentTurnOptions {
  /** The caller's idempotency key, a UUID; made when absent. */
  readonly turnId?: string | undefined;
  /** Aborting it interrupts the turn. */
  readonly signal?: AbortSignal | undefined;
  /** Awaited after the message is journaled and before the first native change. */
  readonly onBeforeNativeChange?: ((change: BeforeAgentChange) => void | Promise<void>) | undefined;
  /** What to do with a turn that was taken in and cut off: `fail` (typed error) when absent, or `resume`. */
  readonly onInterrupted?: 'fail' | 'resume' | undefined;
  /** `fail` with `session_busy` when absent, or `wait` for the other owner. */
  readonly whenBusy?: 'fail' | 'wait' | undefined;
  /** What to do with a draft a person left in the composer; `keep` (and fail) when absent. */
  readonly draft?: 'keep' | 'replace' | undefined;
  /** Drives this turn in another way than the agent's own choice. */
  readonly transport?: TransportChoice | undefined;
  /** Answers approvals and questions of this turn in place of the agent's own handler. */
  readonly onApproval?: ApprovalHandler | undefined;
  /** Resolve at the turn's end (`turn`, when absent), or once the provider's background work is over too. */
  readonly waitFor?: 'turn' | 'quiescence' | undefined;
}

/** What a caller may set for a turn that is given a whole conversation. */
export interface ConversationTurnOptions extends AgentTurnOptions {
  /**
   * Lets a conversation with earlier answers start a session that does not hold them: they go, as quoted text,
   * into the first message. Without it such a conversation is `history_diverged`.
   */
  readonly seedHistory?: boolean | undefined;
}

/** Told to `onBeforeNativeChange`. */
export interface BeforeAgentChange {
  readonly turnId: string;
  /** Absent at a start whose native id is not known yet. */
  readonly handle?: AgentSessionHandle | undefined;
}

/** Tells an agent on a model API from one on a CLI. */
export function isApiAgent(options: AgentOptions): options is ApiAgentOptions {
  return findModelProvider(options.provider) !== undefined;
}

/**
 * How the agent's turns are driven unless one says otherwise; a model API leaves no choice. Outside a chat, where nobody
 * named a transport, it is what the provider declares for work that nobody watches.
 */
export function transportOf(options: AgentOptions, scope: string): TransportChoice | undefined {
  if (isApiAgent(options)) return undefined;
  if (options.transport !== undefined || scope === 'chat') return options.transport;
  return findProvider(options.provider)?.unattended;
}

/** The provider's part of the options: what a session is launched with. */
export function sessionConfigOf(options: AgentOptions): SessionConfig {
  return isApiAgent(options) ? sessionConfigOfApi(options) : cliConfigOf(options);
}

function cliConfigOf(options: CliAgentOptions): ConfigOf<ProviderId> {
  const {
    provider: _provider,
    transport: _transport,
    agentId: _agentId,
    sessionId: _sessionId,
    ownerId: _ownerId,
    scope: _scope,
    correlationId: _correlationId,
    stateDir: _stateDir,
    logger: _logger,
    limits: _limits,
    onApproval: _onApproval,
    onQueuedTurn: _onQueuedTurn,
    sessions: _sessions,
    ...config
  } = options;
  return config;
}

/** The identity the options name; what they leave out is absent. */
export function identityOf(options: AgentOptions): Partial<AgentIdentity> {
  const { agentId, sessionId, ownerId, scope, correlationId } = options;
  return dropAbsent({ agentId, sessionId, ownerId, scope, correlationId });
}

function dropAbsent(
  identity: { readonly [Key in keyof AgentIdentity]: string | undefined },
): Partial<AgentIdentity> {
  return Object.fromEntries(Object.entries(identity).filter(([, value]) => value !== undefined));
}

/** Throws a TypeError that names the option that cannot be used. */
export function checkAgentOptions(options: AgentOptions): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('An agent needs its options.');
  }
  if (isApiAgent(options)) checkApiOptions(options);
  else checkCliOptions(options);
}

function checkCliOptions(options: CliAgentOptions): void {
  if (!findProvider(options.provider)) {
    throw new TypeError(`No provider ${JSON.stringify(options.provider)} is registered.`);
  }
  if (typeof options.workingDir !== 'string' || !isAbsolute(options.workingDir)) {
    const given = JSON.stringify(options.workingDir);
    throw new TypeError(`options.workingDir must be an absolute path, not ${given}.`);
  }
}

function checkApiOptions({ model, workingDir, transport, maxSteps }: ApiAgentOptions): void {
  if (typeof model !== 'string' || model === '') {
    throw new TypeError('options.model must name a model of the provider.');
  }
  if (workingDir !== undefined && !isAbsolute(workingDir)) {
    throw new TypeError(`options.workingDir must be an absolute path, not ${workingDir}.`);
  }
  if (transport !== undefined && transport !== 'api' && transport !== 'auto') {
    throw new TypeError(`A model API has no transport ${JSON.stringify(transport)}.`);
  }
  if (maxSteps !== undefined && !(Number.isInteger(maxSteps) && maxSteps > 0)) {
    throw new TypeError(`options.maxSteps must be a whole number above 0, not ${maxSteps}.`);
  }
}
