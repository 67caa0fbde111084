import { UndeliverableMessageError } from '../errors/turn-error.js';

/** Whether a text can be sent as it is: half of an emoji has no bytes, and a stored one spoils every later request. */
export function isWellFormedText(text: string): boolean {
  return text.isWellFormed();
}

/** Refuses a text that holds half of a surrogate pair, before anything is sent (`ill_formed_text`). */
export function checkWellFormedText(text: string, what: string): void {
  if (isWellFormedText(text)) return;
  throw new UndeliverableMessageError(
    'ill_formed_text',
    `${what} holds half of a surrogate pair, which no encoding can carry; mend the text and send it again.`,
  );
}

/**
 * What the model said, with the replacement character for each half of a pair: a limit can cut an emoji, and the answer
 * must be fit to go back with the next request.
 */
export function toWellFormedValue(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(toWellFormedValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key.toWellFormed(), toWellFormedValue(part)]),
  );
}
