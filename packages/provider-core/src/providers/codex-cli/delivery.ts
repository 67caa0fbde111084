import { Buffer } from 'node:buffer';
import type { DeliveryRefusal } from '../../spec/served-pane.js';
import type { ImagePart } from '../../spec/turn.js';

/** Longer input is refused by the app-server. */
const MAX_CHARACTERS = 1_048_576;

/** The protocol takes every text byte for byte, save for one that is too long or holds nothing. */
export function findRefusal(
  text: string,
  images: readonly ImagePart[] = [],
): DeliveryRefusal | undefined {
  if (text === '' && images.length === 0) return { reason: 'empty', detail: 'it has no text.' };
  return findTextRefusal(text) ?? findImageRefusal(images);
}

function findTextRefusal(text: string): DeliveryRefusal | undefined {
  if (/\p{Surrogate}/u.test(text)) {
    return { reason: 'not_unicode', detail: 'it holds half a surrogate pair.' };
  }
  const characters = countCharacters(text);
  if (characters <= MAX_CHARACTERS) return undefined;
  const detail = `it has ${characters} characters, and Codex takes ${MAX_CHARACTERS} at most.`;
  return { reason: 'too_long', detail };
}

/** Code points, as the app-server counts them; only a text near the limit is walked. */
function countCharacters(text: string): number {
  if (text.length <= MAX_CHARACTERS) return text.length;
  let characters = 0;
  for (const _ of text) characters += 1;
  return characters;
}

/** Codex goes by an image's bytes alone, so what they are not is not what it would tell the model. */
function findImageRefusal(images: readonly ImagePart[]): DeliveryRefusal | undefined {
  const at = images.findIndex(({ mediaType, data }) => readImageType(data) !== mediaType);
  if (at < 0) return undefined;
  const detail = `image ${at + 1} is no ${images[at]?.mediaType} in base64.`;
  return { reason: 'unsupported_image', detail };
}

function readImageType(data: string): string | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return undefined;
  const head = Buffer.from(data.slice(0, 24), 'base64').toString('hex');
  return IMAGE_HEADS.find(([pattern]) => pattern.test(head))?.[1];
}

/** How their bytes begin, in hexadecimal. */
const IMAGE_HEADS: readonly (readonly [RegExp, string])[] = [
  [/^89504e470d0a1a0a/, 'image/png'],
  [/^ffd8ff/, 'image/jpeg'],
  [/^47494638(37|39)61/, 'image/gif'],
  [/^52494646.{8}57454250/, 'image/webp'],
];
