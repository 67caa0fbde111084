import type { DeliveryRefusal } from '../../spec/served-pane.js';

/** Longer input is refused by the app-server. */
const MAX_CHARACTERS = 1_048_576;

/** The protocol takes every text byte for byte, save for one that is too long or holds nothing. */
export function findRefusal(text: string): DeliveryRefusal | undefined {
  if (text === '') return { reason: 'empty', detail: 'it has no text.' };
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
