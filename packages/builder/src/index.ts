export type { AgentContext, AgentSource } from './agents.js';
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
export type { ChatTurnRecord, ChatView } from './chat/chat-view.js';
export type {
  Chat,
  ChatEntry,
  Chats,
  ImportChatOptions,
  OpenChatOptions,
} from './chat/chats.js';
export type { CloseChatOptions } from './chat/close-chat.js';
export type { ChatMessage, LegacyChat } from './chat/legacy-chat.js';
export type { RecoveredChat, RecoveryReport } from './chat/recover-chats.js';
export { type Builder, type BuilderOptions, createBuilder } from './create-builder.js';
export type { Terminal, TerminalGroup } from './terminals/terminal-group.js';
export type { Terminals } from './terminals/terminals.js';
