import type { Message } from '@holdfast/provider-core';
import { type ConversationMessage, textsOf } from '../message.js';

/**
 * The first message of a session that takes over a conversation: the earlier messages as JSON
 * lines between two tags, then the new message as it is. Documented, so that it may be tested for.
 */
export function writeSeedMessage(
  earlier: readonly ConversationMessage[],
  message: Message,
): string {
  const lines = earlier
    .filter(({ role }) => role !== 'system')
    .map(({ role, content }) => JSON.stringify({ role, content: textsOf(content).join('') }));
  return [
    'This conversation began elsewhere. What was said so far, one JSON object a line:',
    '<earlier-conversation>',
    ...lines,
    '</earlier-conversation>',
    'The next message:',
    textsOf(message).join(''),
  ].join('\n');
}
