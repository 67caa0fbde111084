import { createHmac, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import type { JsonValue } from '../../persistence/store.js';
import { encodeCanonicalJson } from '../contract/canonical-json.js';
import type { ThreadRecord } from './thread-record.js';

/** Version of a coding thread's record; on users' disks. */
const THREAD_SCHEMA_VERSION = 1;

const sealed = z.strictObject({
  schemaVersion: z.literal(THREAD_SCHEMA_VERSION),
  seal: z.string().regex(/^[0-9a-f]{64}$/),
  record: z.looseObject({ sessionRef: z.string(), state: z.string() }),
});

const secretRecord = z.strictObject({
  schemaVersion: z.literal(1),
  secret: z.string().regex(/^[0-9a-f]{64}$/),
});

/** The record as it is written: sealed to its own name and to this store. */
export function sealThread(record: ThreadRecord, name: string, secret: Uint8Array): JsonValue {
  const content = JSON.parse(JSON.stringify(record)) as JsonValue;
  const seal = sealOf(content, name, secret).toString('hex');
  return { schemaVersion: THREAD_SCHEMA_VERSION, seal, record: content };
}

/** Reads a record; `undefined` for one that this store did not write under this name. */
export function openSealed(
  value: unknown,
  name: string,
  secret: Uint8Array,
): ThreadRecord | undefined {
  const parsed = sealed.safeParse(value);
  if (!parsed.success) return undefined;
  const record = parsed.data.record as JsonValue;
  const isOurs = timingSafeEqual(
    sealOf(record, name, secret),
    Buffer.from(parsed.data.seal, 'hex'),
  );
  return isOurs ? (record as unknown as ThreadRecord) : undefined;
}

function sealOf(record: JsonValue, name: string, secret: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(encodeCanonicalJson({ name, record })).digest();
}

/** The secret as it is written. */
export function encodeThreadSecret(secret: Uint8Array): JsonValue {
  return { schemaVersion: 1, secret: Buffer.from(secret).toString('hex') };
}

/** Reads the secret; `undefined` for what is none. */
export function findThreadSecret(value: unknown): Uint8Array | undefined {
  const parsed = secretRecord.safeParse(value);
  return parsed.success ? Buffer.from(parsed.data.secret, 'hex') : undefined;
}
