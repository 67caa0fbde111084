/** The model protocols that the scripted model speaks. */
export type ModelProtocol = 'anthropic-messages' | 'openai-responses' | 'openai-chat' | 'gemini';

/** Why a request is none of the conversation's own: a title, a compaction, a subagent's turn, a token count. */
export type SideReason = 'no_tools' | 'compaction' | 'subagent' | 'token_count';

/** One item of the conversation as it stood in a request body, in the body's order. */
export interface ConversationItem {
  readonly role: 'user' | 'assistant' | 'developer' | 'system' | 'tool';
  /** Every text block by itself, byte for byte. */
  readonly texts: readonly string[];
  /** The images of the item, in their order; absent when it has none. */
  readonly images?: readonly ReceivedImage[];
  readonly callId?: string;
  /** Set on the assistant's tool calls. */
  readonly toolName?: string;
}

/** An image as it arrived: its bytes are told by their digest. */
export interface ReceivedImage {
  readonly mediaType: string;
  readonly byteLength: number;
  /** SHA-256 of the bytes, in hex. */
  readonly sha256: string;
}

/** What arrived over HTTP, before it was read. */
export interface ReceivedRequest {
  readonly id: string;
  readonly at: string;
  readonly path: string;
  readonly bodyText: string;
}

/** One request that a CLI sent to its model, as read from the body alone. */
export interface ModelRequest extends ReceivedRequest {
  readonly protocol: ModelProtocol;
  /** `main` is a turn of the conversation itself; everything the CLI asks on the side is `side`. */
  readonly kind: 'main' | 'side';
  readonly sideReason?: SideReason;
  readonly model: string;
  readonly stream: boolean;
  /** The CLI's own id of the session, as far as the body tells it. */
  readonly nativeSessionId?: string;
  /** System prompt, instructions, and all developer and system items, joined by newlines. */
  readonly systemText: string;
  readonly messages: readonly ConversationItem[];
  readonly toolNames: readonly string[];
}

/** The moments of an answer at which a harness may act; the answer waits until it has. */
export type ModelWindowName =
  | 'at_request'
  | 'before_first_byte'
  | 'after_tool_block'
  | 'mid_stream'
  | 'after_end';

/** One such moment, and the request it belongs to. */
export interface ModelWindow {
  readonly name: ModelWindowName;
  readonly request: ModelRequest;
}

/** The text of developer and system items, which belongs to a request's `systemText`. */
export function readSystemTexts(messages: readonly ConversationItem[]): readonly string[] {
  return messages.flatMap((item) =>
    item.role === 'system' || item.role === 'developer' ? item.texts : [],
  );
}
