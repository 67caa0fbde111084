export { type FaultHook, setFaultHook } from '../state/fault-point.js';
export { hostileTexts } from './cases/exact-delivery.js';
export { type CertifyOptions, certifyProvider } from './certify.js';
export { checkConversation, countMessage, expectError, withoutRequests } from './conversation.js';
export {
  type CertificationId,
  certificationIds,
  listBoundRequirements,
  type Requirement,
  requirements,
} from './requirements.js';
export { readModelLog } from './scripted-model/model-log.js';
export type {
  ConversationItem,
  ModelProtocol,
  ModelRequest,
  ModelWindow,
  ModelWindowName,
  SideReason,
} from './scripted-model/model-request.js';
export {
  brokenStream,
  overloaded,
  rateLimited,
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
  type Claims,
  type HandleJson,
  type LossDepth,
  lossDepths,
  type ProcessSight,
  type RunningTurn,
  type SubjectTurn,
  type SubjectTurnOptions,
} from './subject.js';
