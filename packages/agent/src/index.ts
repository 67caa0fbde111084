export {
  type ApprovalHandler,
  AuthRequiredError,
  acquireLease,
  appendJsonLine,
  BlockedError,
  type CapturedTerminal,
  CliUnusableError,
  type Clock,
  type CloseResult,
  type ContentEvent,
  type ContinuationError,
  createFileAtomic,
  type ErrorJson,
  errorFromJson,
  faultPoint,
  findMovedAside,
  followJsonLines,
  HistoryDivergedError,
  HistoryRejectedError,
  type HostDecision,
  type HostQuestion,
  type HostRequest,
  type ImagePart,
  isContinuationError,
  isoInstant,
  isTurnError,
  JsonLineReader,
  type Lease,
  type LeaseOwnerRecord,
  type LifecycleEvent,
  type Logger,
  listProviders,
  type Message,
  type MessagePart,
  moveAside,
  NativeHistoryMissingError,
  NonApplicableError,
  NonContinuableError,
  noSignIsEnough,
  type ProcessBytes,
  type ProviderCapabilities,
  ProviderFailedError,
  providerCapabilities,
  RateLimitedError,
  readError,
  readJsonFile,
  readJsonLines,
  readLeaseOwner,
  runProcessForBytes,
  SessionBusyError,
  type SessionInspection,
  StaleHandleError,
  StateUnusableError,
  type SteerResult,
  syncDir,
  systemClock,
  TimedOutError,
  type TransportChoice,
  TurnConflictError,
  type TurnError,
  type TurnEvent,
  TurnInterruptedError,
  UncertainDeliveryError,
  UndeliverableMessageError,
  type Usage,
  waitUntil,
  writeError,
  writeFileAtomic,
} from '@holdfast/provider-core';
export { snakeCaseCodec } from '@holdfast/provider-core/wire';
export { Agent, type AgentInspection } from './agent.js';
export type {
  AgentOptions,
  AgentSettings,
  AgentTurnOptions,
  ApiAgentOptions,
  BeforeAgentChange,
  CliAgentOptions,
  ConversationTurnOptions,
} from './agent-options.js';
export type { AgentIdentity, AgentScope, AgentSessionHandle } from './agent-session-handle.js';
export {
  type AgentSessionHandleJson,
  decodeAgentSessionHandle,
  encodeAgentSessionHandle,
} from './agent-session-handle.wire.js';
export type { ApiAgentConfig } from './api/api-config.js';
export type { LegacyRuntime } from './legacy/legacy-runtime.js';
export { decodeLegacyRuntime, encodeLegacyRuntime } from './legacy/legacy-runtime.wire.js';
export {
  agentSessionHandleFromLegacyRuntime,
  type LegacyMappingOptions,
} from './legacy/map-legacy-runtime.js';
export { type ConversationMessage, checkMessage, digestMessage, textsOf } from './message.js';
export type { AgentCloseOptions, ProviderSessions } from './provider-sessions.js';
export type { QueuedMessage } from './queue/queued-message.js';
export type {
  AgentSteerResult,
  AgentTurn,
  AgentTurnEvent,
  AgentTurnResult,
  ComposedTurn,
  FinalTurnEvent,
  RunningTurnEvent,
  SteerOptions,
} from './turn/agent-turn.js';
export {
  type AgentTurnEventJson,
  decodeAgentTurnEvent,
  encodeAgentTurnEvent,
} from './turn/agent-turn-event.wire.js';
export { composeTurn, type TurnStage } from './turn/compose-turn.js';
export { readTurnId } from './turn/turn-id.js';
