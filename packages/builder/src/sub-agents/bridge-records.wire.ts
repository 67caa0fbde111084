import { snakeCaseCodec } from '@holdfast/agent';
import * as z from 'zod';
import type { JsonValue } from '../persistence/store.js';

const slotCodec = snakeCaseCodec({
  schema_version: z.literal(1),
  port: z.number().int().min(1).max(65_535),
});

const secretCodec = snakeCaseCodec({
  schema_version: z.literal(1),
  secret: z.string().regex(/^[0-9a-f]{64}$/),
});

/** The record of an address. */
export function encodeSlotPort(port: number): JsonValue {
  return z.encode(slotCodec, { schemaVersion: 1, port });
}

/** The port that a record names; `undefined` where it names none. */
export function findSlotPort(value: unknown): number | undefined {
  return slotCodec.safeDecode(value as z.input<typeof slotCodec>).data?.port;
}

/** The record of the secret. */
export function encodeSecret(secret: Buffer): JsonValue {
  return z.encode(secretCodec, { schemaVersion: 1, secret: secret.toString('hex') });
}

/** The secret that a record holds; `undefined` where it holds none. */
export function findSecret(value: unknown): Buffer | undefined {
  const { data } = secretCodec.safeDecode(value as z.input<typeof secretCodec>);
  return data && Buffer.from(data.secret, 'hex');
}
