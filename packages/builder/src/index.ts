export type { AgentContext, AgentSource } from './agents.js';
export type { BuilderOptions } from './builder-options.js';
export type { ChatDelivery, PostOptions } from './chat/chat-delivery.js';
export {
  type AnyChatError,
  ChatError,
  type ChatErrorKind,
  isChatError,
  UnknownAgentError,
  UnknownChatError,
} from './chat/chat-error.js';
export type { ChatEvent, ChatEventBody, ChatEventStamp } from './chat/chat-event.js';
export type { ChatEventsOptions } from './chat/chat-log.js';
export type { ChatTurn, ChatTurnResult, SendOptions } from './chat/chat-turn-result.js';
export type { ChatDeliveryRecord, ChatTurnRecord, ChatView } from './chat/chat-view.js';
export type {
  Chat,
  ChatEntry,
  Chats,
  ImportChatOptions,
  OpenChatOptions,
} from './chat/chats.js';
export type { CloseChatOptions } from './chat/close-chat.js';
export type { ChatMessage, LegacyChat } from './chat/legacy-chat.js';
export type { RecoveredChat } from './chat/recover-chats.js';
export { type Builder, createBuilder, type RecoveryReport } from './create-builder.js';
export { createJobEngine, type JobEngineOptions } from './engine/file-job-engine.js';
export type {
  EngineReport,
  Job,
  JobContext,
  JobEngine,
  JobHandler,
  JobOutcome,
  JobView,
  QueueOptions,
} from './engine/job-engine.js';
export {
  type ExecutionKey,
  executionIdOf,
  type OwnerKind,
  readExecutionId,
} from './executions/execution-key.js';
export type { SessionOwner } from './executions/execution-owner.js';
export type {
  ExecutionEventsOptions,
  Executions,
  StartExecution,
} from './executions/executions.js';
export { readOlderFailure, toOlderFailure } from './interop/older-failure.js';
export { olderShapes } from './interop/older-shapes.wire.js';
export {
  toOlderBackgroundAgent,
  toOlderCapacityWait,
  toOlderConfirmation,
  toOlderDelivery,
  toOlderRuntime,
  toOlderTerminals,
} from './interop/older-views.js';
export type {
  DeliveryState,
  Notification,
  NotificationHandler,
  OutboxEntry,
  OutboxState,
} from './notifications/notification.js';
export type { Notifications } from './notifications/notifications.js';
export { createFileStore, type FileStoreOptions } from './persistence/file-store.js';
export type {
  JsonValue,
  Store,
  StoreKey,
  StoreLease,
  StoreLeaseState,
  StoreLogOptions,
  StoreRead,
  StoreWriteOptions,
} from './persistence/store.js';
export type { Lease, LeaseOwner } from './persistence/store-lease.js';
export type { Terminal, TerminalGroup } from './terminals/terminal-group.js';
export type { CloseReason, TerminalPolicy } from './terminals/terminal-record.js';
export type {
  OwnedTerminals,
  TerminalSnapshot,
  Terminals,
  TerminalView,
} from './terminals/terminals.js';
export type {
  AdvisoryUsage,
  CodingJobInput,
  CodingOutcome,
  CodingPatch,
  CodingRequest,
  CodingRole,
  Finding,
  ImplementationArtifact,
  Remediation,
  RepositoryBundle,
  ReviewInput,
  ReviewResult,
  Sha256,
  ThreadDirective,
  ThreadReceipt,
  ValidationEvidence,
} from './threads/coding-job.js';
export type { CodingOptions, CodingRunnerOptions, RunnerCli } from './threads/coding-options.js';
export {
  CodingThreadError,
  type CodingThreadErrorDetails,
  type CodingThreadErrorKind,
  isCodingThreadError,
  type RetryClass,
} from './threads/coding-thread-error.js';
export type { CodingThreads, ThreadAddress, ThreadVerdict } from './threads/coding-threads.js';
export { digestOfJson } from './threads/contract/canonical-json.js';
export { extractReceipt } from './threads/contract/extract-receipt.js';
export type { FindingLedger, LedgerEntry } from './threads/contract/finding-ledger.js';
export { checkPublication, type Publication } from './threads/contract/publish-gate.js';
export {
  type AdapterQualification,
  type AdapterUse,
  QUALIFICATION_DIMENSIONS,
  type QualificationDimension,
} from './threads/contract/qualification.wire.js';
export type { ThreadOwner } from './threads/contract/thread-scope.js';
export type {
  CodingJobHandle,
  CodingJobState,
  CodingJobs,
  CodingJobView,
  SubmitCodingJob,
} from './threads/scheduling/coding-jobs.js';
export type {
  CodingStage,
  RunStage,
  StageAgent,
  StageOutcome,
  StageThreadEnd,
} from './threads/stages/coding-stage.js';
export {
  CodingStageError,
  type CodingStageErrorDetails,
  type CodingStageErrorReason,
  isCodingStageError,
} from './threads/stages/stage-error.js';
export type { ThreadNote, ThreadOperation, ThreadState } from './threads/store/thread-record.js';
export type { ThreadView } from './threads/store/thread-view.js';
export type {
  SecretReference,
  WorkerCli,
  WorkerEnd,
  WorkerError,
  WorkerPolicy,
} from './threads/worker/worker-spec.js';
export type {
  ContinuationState,
  ExecutionOutcome,
  PhaseRecord,
  PhaseTurn,
  Suspension,
} from './workflow/continuation-state.js';
export type { LearningLockState, WaitingTicket } from './workflow/inspect-learning-lock.js';
export type { LearningLock } from './workflow/learning-lock.js';
export { PHASES, type Phase, type PhaseStatus } from './workflow/phases.js';
export type { RunEvent } from './workflow/run-events.js';
export type { LearningLockOptions } from './workflow/with-learning-lock.js';
export {
  type AgentPostStepWork,
  type CodingJobStep,
  type CodingStageStep,
  defineWorkflow,
  type ParallelSteps,
  type PostStepWork,
  type Prompt,
  type PromptStep,
  type StepBase,
  type StepCodingJob,
  type StepContext,
  type StepDefinition,
  type ValidationResult,
  type WorkflowDefinition,
} from './workflow/workflow-definition.js';
export {
  type AnyWorkflowError,
  AttemptsExhaustedError,
  ChildFailedError,
  ExecutionStoppedError,
  isWorkflowError,
  UnknownExecutionError,
  UnknownWorkflowError,
  UnregisteredAgentError,
  ValidationFailedError,
  WorkflowError,
  type WorkflowErrorKind,
} from './workflow/workflow-error.js';
export type {
  WorkflowEvent,
  WorkflowEventBody,
  WorkflowEventStamp,
} from './workflow/workflow-event.js';
export type { RunKey, RunRecord, RunView } from './workflow/workflow-run.js';
export type {
  RunEventsOptions,
  StartRun,
  WorkflowRun,
  Workflows,
} from './workflow/workflows.js';
