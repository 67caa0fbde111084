/** Same symbol in every installed copy of this package, so that recognition survives duplicates. */
const brand = Symbol.for('holdfast.ChatError');

/** Why a chat cannot be used. */
export type ChatErrorKind = 'unknown_chat' | 'unknown_agent';

/** A chat that is not there, or whose agent nobody registered. Its state is kept. Narrow it with {@link isChatError}. */
export abstract class ChatError extends Error {
  abstract readonly kind: ChatErrorKind;
  readonly chatId: string;

  protected constructor(chatId: string, message: string) {
    super(message);
    this.name = new.target.name;
    this.chatId = chatId;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** No chat of that id stands in the data directory. */
export class UnknownChatError extends ChatError {
  readonly kind = 'unknown_chat';

  constructor(chatId: string) {
    super(chatId, `There is no chat ${chatId}. Open it first, or look for its id in chats.list().`);
  }
}

/** The chat names an agent that was not given to `createBuilder`. */
export class UnknownAgentError extends ChatError {
  readonly kind = 'unknown_agent';
  readonly agent: string;

  constructor(chatId: string, agent: string) {
    super(
      chatId,
      `Chat ${chatId} needs the agent ${agent}, which is not registered. Its state is kept; give createBuilder an agent of that id.`,
    );
    this.agent = agent;
  }
}

/** Every chat error; switch on `kind`. */
export type AnyChatError = UnknownChatError | UnknownAgentError;

/** Recognises a chat error from any installed copy of this package. */
export function isChatError(value: unknown): value is AnyChatError {
  return typeof value === 'object' && value !== null && brand in value;
}
