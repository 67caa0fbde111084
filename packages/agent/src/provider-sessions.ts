import {
  type CapturedTerminal,
  type CloseResult,
  type CodingAgentTurn,
  type CodingProviderSessionHandle,
  type ContinueOptions,
  captureSessionTerminal,
  checkStableFields,
  closeCodingAgentSession,
  continueCodingAgentSession,
  findProvider,
  inspectCodingAgentSession,
  type Message,
  type ProviderId,
  providerCapabilities,
  type SessionConfig,
  type SessionInspection,
  StaleHandleError,
  stableDigests,
  startCodingAgentSession,
  type TurnOptions,
} from '@holdfast/provider-core';
import type { ConversationMessage } from './message.js';

/** All that an agent asks of the layer below; a test hands in sessions that live in memory. */
export interface ProviderSessions {
  readonly start: (request: SessionStart) => CodingAgentTurn;
  readonly continue: (
    handle: CodingProviderSessionHandle,
    message: Message,
    options: ContinueOptions,
  ) => CodingAgentTurn;
  readonly inspect: (
    handle: CodingProviderSessionHandle,
    options: Pick<TurnOptions, 'stateDir'>,
  ) => Promise<SessionInspection>;
  readonly close: (
    handle: CodingProviderSessionHandle,
    options: AgentCloseOptions & Pick<TurnOptions, 'stateDir'>,
  ) => Promise<CloseResult>;
  /** What the session's terminal shows; absent where sessions have none. */
  readonly captureTerminal?:
    | ((
        handle: CodingProviderSessionHandle,
        options: Pick<TurnOptions, 'stateDir'>,
      ) => Promise<CapturedTerminal | undefined>)
    | undefined;
  /** Throws {@link StaleHandleError} when the session was started with other stable settings. */
  readonly checkConfig: (handle: CodingProviderSessionHandle, config: SessionConfig) => void;
  /** Lets go of what is kept between turns, as soon as no turn runs. */
  readonly release?: (() => Promise<void>) | undefined;
}

/** The first turn of a session. */
export interface SessionStart extends TurnOptions {
  readonly provider: string;
  readonly config: SessionConfig;
  readonly message: Message;
  /** Our own id of a session that a handle names already; only for sessions whose history is ours. */
  readonly sessionId?: string | undefined;
  /** What was said before; only for sessions whose history is ours. */
  readonly earlier?: readonly ConversationMessage[] | undefined;
}

/** How a session is closed. */
export interface AgentCloseOptions {
  /** Also hides the session from the provider's own lists, where it can; such a session is not continued. */
  readonly archive?: boolean | undefined;
  readonly deadlineMs?: number | undefined;
}

/** The real provider sessions. */
export const providerCoreSessions: ProviderSessions = {
  start: startCliSession,
  continue: continueCodingAgentSession,
  inspect: inspectCodingAgentSession,
  close: closeCodingAgentSession,
  captureTerminal: captureSessionTerminal,
  checkConfig: checkHandleConfig,
};

function startCliSession(start: SessionStart) {
  const { earlier: _earlier, sessionId: _sessionId, provider, ...request } = start;
  if (!isProviderId(provider)) throw new TypeError(`No provider ${provider} is registered.`);
  return startCodingAgentSession({ ...request, provider });
}

/** A provider of the caller's own counts: its configuration was judged when the agent was made. */
function isProviderId(id: string): id is ProviderId {
  return findProvider(id) !== undefined;
}

/** Only what the handle itself says; what stands in the launch record is compared by every turn. */
function checkHandleConfig(handle: CodingProviderSessionHandle, config: SessionConfig): void {
  const { provider, stableFields, workingDir } = handle;
  if (workingDir !== undefined && workingDir !== config.workingDir) {
    throw new StaleHandleError(provider, 'working_dir');
  }
  if (!stableFields) return;
  const fields = providerCapabilities(provider).stableFields;
  checkStableFields(provider, stableFields, stableDigests(provider, config, fields), fields);
}
