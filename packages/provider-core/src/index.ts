export { beginTurn, type LiveTurn } from './continuation/begin-turn.js';
export { canonicalJson, digestOf } from './continuation/canonical-json.js';
export { captureSessionTerminal } from './continuation/capture-terminal.js';
export { checkStableFields } from './continuation/check-stable-fields.js';
export type { TransportChoice } from './continuation/choose-way.js';
export {
  type CloseOptions,
  type CloseResult,
  closeCodingAgentSession,
} from './continuation/close-session.js';
export {
  type ContinueOptions,
  continueCodingAgentSession,
} from './continuation/continue-session.js';
export {
  type DiagnoseOptions,
  type Diagnosis,
  diagnose,
  type LeftoverProcess,
  type ProviderDiagnosis,
  type SessionDiagnosis,
  type ToolDiagnosis,
} from './continuation/diagnose.js';
export { findForeignPayer } from './continuation/find-foreign-payer.js';
export {
  inspectCodingAgentSession,
  type SessionInspection,
} from './continuation/inspect-session.js';
export { inspectCodingAgentTurn, type TurnInspection } from './continuation/inspect-turn.js';
export { type OutgoingMessage, outgoingMessage } from './continuation/outgoing-message.js';
export { stableDigests } from './continuation/stable-digests.js';
export { type StartRequest, startCodingAgentSession } from './continuation/start-session.js';
export type { CodingAgentTurn } from './continuation/turn-object.js';
export {
  type BeforeNativeChange,
  type ResolvedTurnOptions,
  resolveTurnOptions,
  type TurnLimits,
  type TurnOptions,
  turnIdOf,
} from './continuation/turn-options.js';
export { typedError } from './continuation/typed-error.js';
export {
  CodingAgentContinuationError,
  type ContinuationError,
  isContinuationError,
  type MissingPart,
  NonApplicableError,
  NonContinuableError,
  StaleHandleError,
} from './errors/continuation-error.js';
export type { ErrorJson } from './errors/error-brand.js';
export { errorFromJson } from './errors/error-from-json.js';
export {
  AuthRequiredError,
  BlockedError,
  CliUnusableError,
  type CliUnusableReason,
  CodingAgentTurnError,
  HistoryDivergedError,
  HistoryRejectedError,
  isTurnError,
  NativeHistoryMissingError,
  ProviderFailedError,
  RateLimitedError,
  SessionBusyError,
  StateUnusableError,
  type StateUnusableReason,
  TimedOutError,
  TurnConflictError,
  type TurnError,
  type TurnErrorKind,
  TurnInterruptedError,
  UncertainDeliveryError,
  UndeliverableMessageError,
} from './errors/turn-error.js';
export { checkWellFormedText, isWellFormedText } from './models/well-formed-text.js';
export {
  type ConfigOf,
  type FoundCodingAdapter,
  findCodingAdapter,
  findModelProvider,
  findProvider,
  listCodingAdapters,
  listModelProviders,
  listProviders,
  type ModelProviderId,
  type ProviderId,
  providerCapabilities,
  registerModelProvider,
  registerProvider,
} from './providers/registry.js';
export { capabilitiesOf, holdsFor, listWays } from './providers/ways.js';
export type {
  ProviderCapabilities,
  SettingAfterResume,
  StableField,
  Verb,
  VerbClaim,
  Way,
} from './spec/capabilities.js';
export type {
  CodingAdapter,
  CodingPermissions,
  CodingPlan,
  CodingPlanRequest,
} from './spec/coding-adapter.js';
export type {
  ApprovalHandler,
  ApprovalRequest,
  DecidedBy,
  HostDecision,
  HostQuestion,
  HostRequest,
  QuestionRequest,
} from './spec/host-request.js';
export type { Logger } from './spec/logger.js';
export type {
  ModelAssistantPart,
  ModelConfig,
  ModelMessage,
  ModelPort,
  ModelProviderDefinition,
  ModelStepEvent,
  ModelStepRequest,
  ModelTool,
  ModelToolCall,
  ModelUserPart,
} from './spec/model-port.js';
export { defineCodingProvider, type ProviderDefinition } from './spec/provider-definition.js';
export type {
  CodingProviderSessionHandle,
  HandleStatus,
  Transport,
} from './spec/provider-session-handle.js';
export type {
  EnvReference,
  LaunchOption,
  McpServer,
  PermissionLevel,
  SessionConfig,
  ToolPolicy,
} from './spec/session-config.js';
export type {
  DeliveryEvidence,
  FailureReason,
  ImagePart,
  Message,
  MessagePart,
  SessionOwner,
  SteerResult,
  TurnResult,
  Usage,
} from './spec/turn.js';
export {
  type ContentEvent,
  isFinalEvent,
  type LifecycleEvent,
  type TurnEvent,
  type TurnEventBody,
  type TurnEventStamp,
} from './spec/turn-event.js';
export {
  type AtomicWriteOptions,
  createFileAtomic,
  findMovedAside,
  type JsonFile,
  moveAside,
  readJsonFile,
  syncDir,
  writeFileAtomic,
} from './state/atomic-write.js';
export { faultPoint } from './state/fault-point.js';
export { type FollowedLine, followJsonLines } from './state/follow-json-lines.js';
export { appendJsonLine, JsonLineReader, readJsonLines } from './state/json-lines.js';
export {
  type AcquiredLease,
  acquireLease,
  type Lease,
  type LeaseObservation,
  type LeaseOwnerRecord,
  noSignIsEnough,
  readLeaseOwner,
} from './state/lease.js';
export { prepareStateDir } from './state/prepare-state-dir.js';
export { observePid, ownIdentity, type ProcessIdentity } from './state/process-identity.js';
export {
  type EndProcessesReport,
  endProcesses,
  type FoundProcess,
  findProcessesByEnvironment,
  findProcessesWithVariable,
  listProcessTree,
  listSessionProcesses,
} from './state/process-tree.js';
export { readError, writeError } from './state/state-error.js';
export { defaultStateDir } from './state/state-layout.js';
export { type Clock, isoInstant, systemClock } from './time/clock.js';
export { waitUntil } from './time/wait-until.js';
export {
  type ProcessBytes,
  ProcessStartError,
  runProcessForBytes,
  spawnPiped,
} from './transports/run-process.js';
export type { CapturedTerminal } from './transports/tmux/capture-terminal.js';
