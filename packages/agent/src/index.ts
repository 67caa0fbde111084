export { Agent, type AgentInspection } from './agent.js';
export type {
  AgentOptions,
  AgentSettings,
  AgentTurnOptions,
  BeforeAgentChange,
  ConversationTurnOptions,
} from './agent-options.js';
export type { AgentIdentity, AgentScope, AgentSessionHandle } from './agent-session-handle.js';
export {
  type AgentSessionHandleJson,
  decodeAgentSessionHandle,
  encodeAgentSessionHandle,
} from './agent-session-handle.wire.js';
export type { ConversationMessage } from './message.js';
export type { AgentCloseOptions, ProviderSessions, TransportChoice } from './provider-sessions.js';
export type { QueuedMessage } from './queue/queued-message.js';
export type {
  AgentTurn,
  AgentTurnEvent,
  AgentTurnResult,
  ComposedTurn,
  FinalTurnEvent,
  RunningTurnEvent,
} from './turn/agent-turn.js';
export { composeTurn, type TurnStage } from './turn/compose-turn.js';
