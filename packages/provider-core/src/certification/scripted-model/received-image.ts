import { createHash } from 'node:crypto';
import { type JsonRecord, readJsonRecords, readString } from './json-value.js';
import type { ConversationItem, ReceivedImage } from './model-request.js';

/** The image in base64, or `undefined` when the values are none. */
export function readImage(mediaType: unknown, base64: unknown): ReceivedImage | undefined {
  const [type, data] = [readString(mediaType), readString(base64)];
  if (type === undefined || data === undefined) return undefined;
  const bytes = Buffer.from(data, 'base64');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { mediaType: type, byteLength: bytes.length, sha256 };
}

/** The image in a `data:` URL; one at another address has no bytes to tell of. */
export function readDataUrl(value: unknown): ReceivedImage | undefined {
  const parts = /^data:(?<type>[^;,]+);base64,(?<data>.*)$/s.exec(readString(value) ?? '')?.groups;
  return readImage(parts?.['type'], parts?.['data']);
}

/** The images among the blocks of a content. */
export function findImages(
  content: unknown,
  read: (block: JsonRecord) => ReceivedImage | undefined,
): readonly ReceivedImage[] {
  return readJsonRecords(content).flatMap((block) => read(block) ?? []);
}

/** The item with its images, when it has any. */
export function withImages(
  item: ConversationItem,
  find: () => readonly ReceivedImage[],
): ConversationItem {
  const images = find();
  return images.length > 0 ? { ...item, images } : item;
}
