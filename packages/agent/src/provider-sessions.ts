import {
  type CloseResult,
  type CodingAgentTurn,
  type CodingProviderSessionHandle,
  type ContinueOptions,
  checkStableFields,
  closeCodingAgentSession,
  continueCodingAgentSession,
  inspectCodingAgentSession,
  type Message,
  providerCapabilities,
  type SessionConfig,
  type SessionInspection,
  StaleHandleError,
  type StartRequest,
  stableDigests,
  startCodingAgentSession,
  type TurnOptions,
} from '@holdfast/provider-core';

/** All that an agent asks of the layer below; a test hands in sessions that live in memory. */
export interface ProviderSessions {
  readonly start: (request: StartRequest) => CodingAgentTurn;
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
  /** Throws {@link StaleHandleError} when the session was started with other stable settings. */
  readonly checkConfig: (handle: CodingProviderSessionHandle, config: SessionConfig) => void;
}

/** How a session is closed. */
export interface AgentCloseOptions {
  /** Also hides the session from the provider's own lists, where it can; such a session is not continued. */
  readonly archive?: boolean | undefined;
  readonly deadlineMs?: number | undefined;
}

/** The real provider sessions. */
export const providerCoreSessions: ProviderSessions = {
  start: startCodingAgentSession,
  continue: continueCodingAgentSession,
  inspect: inspectCodingAgentSession,
  close: closeCodingAgentSession,
  checkConfig: checkHandleConfig,
};

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
