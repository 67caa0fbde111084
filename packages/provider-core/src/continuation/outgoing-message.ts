import { UndeliverableMessageError } from '../errors/turn-error.js';
import { checkWellFormedText } from '../models/well-formed-text.js';
import type { ImagePart, Message } from '../spec/turn.js';
import { digestOf } from './canonical-json.js';

/** A message as a transport takes it: one text, and the images that go with it. */
export interface OutgoingMessage {
  readonly text: string;
  readonly images: readonly ImagePart[];
}

/** Throws a TypeError for what is no message at all. */
export function checkMessageShape(message: Message): void {
  if (typeof message === 'string' || Array.isArray(message)) return;
  throw new TypeError('message must be a string or an array of content parts.');
}

/** Takes a message apart; a part of a kind nobody knows is refused, never dropped. */
export function outgoingMessage(message: Message): OutgoingMessage {
  if (typeof message === 'string') return { text: wellFormed(message), images: [] };
  const texts: string[] = [];
  const images: ImagePart[] = [];
  for (const part of message) {
    if (part?.type === 'text' && typeof part.text === 'string') texts.push(part.text);
    else if (part?.type === 'image' && isImage(part)) images.push(part);
    else throw unsupportedPart(part);
  }
  return { text: wellFormed(texts.join('')), images };
}

/** What two uses of one turn id are compared by. A text alone has the digest it always had. */
export function messageDigest({ text, images }: OutgoingMessage): string {
  return images.length === 0 ? digestOf(text) : digestOf({ text, images });
}

function wellFormed(text: string): string {
  checkWellFormedText(text, 'The message');
  return text;
}

function isImage({ mediaType, data }: ImagePart): boolean {
  return /^image\/(png|jpeg|gif|webp)$/.test(mediaType) && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
}

function unsupportedPart(part: unknown): UndeliverableMessageError {
  const type = typeof part === 'object' && part !== null && 'type' in part ? part.type : part;
  return new UndeliverableMessageError(
    'unsupported_part',
    type === 'image'
      ? 'An image needs a mediaType (png, jpeg, gif or webp) and base64 data.'
      : `Content parts of type ${JSON.stringify(type)} cannot be delivered.`,
  );
}
