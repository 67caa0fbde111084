import { createHash } from 'node:crypto';
import type { Message } from '@holdfast/provider-core';

/** One entry of a conversation as a caller keeps it. */
export interface ConversationMessage {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: Message;
}

/** sha256 over role and parts; a string and one text part with the same text are the same message. */
export function digestMessage(role: 'user' | 'assistant', content: Message): string {
  return createHash('sha256')
    .update(JSON.stringify([role, ...digestedParts(content)]))
    .digest('hex');
}

function digestedParts(content: Message): readonly unknown[] {
  if (typeof content === 'string') return [content];
  return content.map((part) =>
    part.type === 'text' ? part.text : { image: [part.mediaType, part.data] },
  );
}

/** The texts of a message, one an entry; its images are left out. */
export function textsOf(content: Message): readonly string[] {
  if (typeof content === 'string') return [content];
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
}

/** Throws a TypeError unless `message` is something that can be sent. */
export function checkMessage(message: unknown): asserts message is Message {
  const isParts =
    Array.isArray(message) &&
    message.length > 0 &&
    message.every((part) => typeof part === 'object' && part !== null && 'type' in part);
  if (typeof message !== 'string' && !isParts) {
    throw new TypeError('A message must be a string or a non-empty list of content parts.');
  }
}

/** Throws a TypeError unless `messages` is a conversation that ends with the user's message. */
export function checkConversation(messages: readonly ConversationMessage[]): void {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new TypeError('messages must be a non-empty list.');
  }
  for (const [index, message] of messages.entries()) {
    if (!ROLES.has(message?.role)) {
      throw new TypeError(`messages[${index}].role must be user, assistant or system.`);
    }
    checkMessage(message.content);
  }
  if (messages.at(-1)?.role !== 'user') {
    throw new TypeError('The last message must have the role user: there is nothing else to send.');
  }
}

const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system']);

/** A system message may repeat the agent's own system prompt and say nothing else: the session is launched with that. */
export function checkSystemMessages(
  messages: readonly ConversationMessage[],
  systemPrompt: string | undefined,
): void {
  for (const [index, { role, content }] of messages.entries()) {
    if (role === 'system' && textsOf(content).join('') !== systemPrompt) {
      throw new TypeError(
        `messages[${index}] is a system message that is not the agent's systemPrompt; set it there.`,
      );
    }
  }
}
