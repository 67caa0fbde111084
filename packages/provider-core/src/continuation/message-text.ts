import { UndeliverableMessageError } from '../errors/turn-error.js';
import type { Message } from '../spec/turn.js';

/** Throws a TypeError for what is no message at all. */
export function checkMessageShape(message: Message): void {
  if (typeof message === 'string' || Array.isArray(message)) return;
  throw new TypeError('message must be a string or an array of content parts.');
}

/** The text of a message; a part that is no text is refused, never dropped. */
export function messageText(message: Message): string {
  if (typeof message === 'string') return message;
  return message
    .map((part) => {
      if (part?.type === 'text' && typeof part.text === 'string') return part.text;
      throw new UndeliverableMessageError(
        'unsupported_part',
        `Content parts of type ${JSON.stringify(part?.type)} cannot be delivered.`,
      );
    })
    .join('');
}
