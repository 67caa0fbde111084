export { type FaultHook, setFaultHook } from '../state/fault-point.js';
export { hostileTexts } from './cases/exact-delivery.js';
export { type CertifyOptions, certifyProvider } from './certify.js';
export {
  type ClaimingDefinition,
  type Claims,
  claimsOf,
  claimsVerb,
  listClaims,
} from './claims.js';
export { checkConversation, countMessage, expectError, withoutRequests } from './conversation.js';
export type {
  HistoryConfig,
  HistorySubject,
  HistoryTurnOptions,
  LedgerTools,
  LedgerTrick,
  SpokenMessage,
  ToolServerKind,
} from './history-subject.js';
export {
  type HistoryCertificationId,
  type HistoryRequirement,
  historyCertificationIds,
  historyRequirements,
  listBoundHistoryRequirements,
} from './requirements/history-requirements.js';
export type { Requirement } from './requirements/requirement.js';
export {
  type CertificationId,
  casesOf,
  certificationIds,
  listBoundRequirements,
  requirements,
} from './requirements.js';
export { readModelLog } from './scripted-model/model-log.js';
export type {
  ConversationItem,
  ModelProtocol,
  ModelRequest,
  ModelWindow,
  ModelWindowName,
  ReceivedImage,
  SideReason,
} from './scripted-model/model-request.js';
export {
  brokenStream,
  contextTooLong,
  historyRejected,
  modelNotFound,
  overloaded,
  rateLimited,
  refused,
  unauthorized,
  usageLimitReached,
} from './scripted-model/scripted-failures.js';
export {
  type ScriptedModel,
  type ScriptedModelOptions,
  startScriptedModel,
} from './scripted-model/scripted-model.js';
export {
  type ScriptedStep,
  type ScriptedToolCall,
  type ScriptedUsage,
  scripted,
} from './scripted-model/scripted-step.js';
export { shellToolCall } from './scripted-model/shell-tool-call.js';
export { findUserMessages, readUserMessages } from './scripted-model/user-messages.js';
export {
  type CertificationSubject,
  type FailureName,
  type HandleJson,
  type LossDepth,
  lossDepthsOf,
  type ProcessSight,
  type RunningTurn,
  type ScriptedDecision,
  type SubjectTurn,
  type SubjectTurnOptions,
} from './subject.js';
