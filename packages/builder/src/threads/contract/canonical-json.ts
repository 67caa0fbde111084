import { createHash } from 'node:crypto';
import type { JsonValue } from '../../persistence/store.js';
import type { Sha256 } from '../coding-job.js';

/** The one text of a JSON value: keys sorted by their UTF-8 bytes at every depth, no spaces, arrays as they are. */
export function encodeCanonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(encodeCanonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) return encodeObject(value);
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new TypeError(`${value} is no number of JSON.`);
  }
  if (typeof value === 'string' && !value.isWellFormed()) {
    throw new TypeError('A text with half a character has no UTF-8 form.');
  }
  const text = JSON.stringify(value);
  if (typeof text !== 'string') throw new TypeError('Only what JSON can say has a digest.');
  return text;
}

/** The digest of a JSON value, by its canonical text. */
export function digestOfJson(value: JsonValue): Sha256 {
  return digestOfText(encodeCanonicalJson(value));
}

/** The digest of a text, over its UTF-8 bytes. */
export function digestOfText(text: string): Sha256 {
  return `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;
}

function encodeObject(value: object): string {
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  const sorted = fields.sort(([one], [other]) =>
    Buffer.compare(Buffer.from(one), Buffer.from(other)),
  );
  const texts = sorted.map(
    ([key, field]) => `${encodeCanonicalJson(key)}:${encodeCanonicalJson(field)}`,
  );
  return `{${texts.join(',')}}`;
}
