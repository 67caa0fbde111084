import { type ErrorJson, StateUnusableError, snakeCaseCodec } from '@holdfast/agent';
import * as z from 'zod';
import type { SessionOwner } from '../executions/execution-owner.js';
import type { JsonValue } from '../persistence/store.js';
import type { DeliveryState, OutboxEntry } from './notification.js';

/** Version of an entry on users' disks. */
const OUTBOX_SCHEMA_VERSION = 1;

const deliveryCodec = snakeCaseCodec({
  state: z.enum(['none', 'pending', 'delivered', 'dead_letter']),
  attempts: z.number().int().min(0),
  waits: z.number().int().min(0).optional(),
  steering: z.boolean().optional(),
  not_before: z.string().optional(),
  error: z.looseObject({ family: z.string(), kind: z.string(), message: z.string() }).optional(),
  via: z.enum(['turn', 'steered', 'handler']).optional(),
});

const targetCodec = z.union([
  snakeCaseCodec({ kind: z.literal('chat'), chat_id: z.string().min(1) }),
  snakeCaseCodec({ kind: z.literal('execution'), execution_id: z.string().min(1) }),
]);

const entryCodec = snakeCaseCodec({
  schema_version: z.number().int(),
  notification_id: z.string().min(1),
  execution_id: z.string().min(1),
  outcome: z.enum(['completed', 'failed', 'stopped']),
  text: z.string().min(1),
  target: z.unknown().optional(),
  at: z.string(),
  turn_id: z.string().min(1),
  session: z.unknown(),
  handler: z.unknown(),
  updated_at: z.string(),
});

/** One entry as it is written. */
export function encodeOutboxEntry(entry: OutboxEntry): JsonValue {
  return z.encode(entryCodec, {
    ...entry,
    schemaVersion: OUTBOX_SCHEMA_VERSION,
    target: entry.target && z.encode(targetCodec, entry.target),
    session: encodeDelivery(entry.session),
    handler: encodeDelivery(entry.handler),
  }) as JsonValue;
}

/** Reads one entry; a newer or damaged one is a `StateUnusableError`, and the record stays as it is. */
export function decodeOutboxEntry(value: unknown, path: string): OutboxEntry {
  const head = z.looseObject({ schema_version: z.number() }).safeParse(value);
  if (head.success && head.data.schema_version > OUTBOX_SCHEMA_VERSION) {
    throw new StateUnusableError(path, 'newer_format', 'it was written by a newer version.');
  }
  try {
    return decodeEntry(value);
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    throw new StateUnusableError(path, 'damaged', 'it is no entry of the outbox.', {
      cause: error,
    });
  }
}

function decodeEntry(value: unknown): OutboxEntry {
  const {
    schemaVersion: _version,
    target,
    session,
    handler,
    ...plain
  } = z.decode(entryCodec, value as z.input<typeof entryCodec>);
  return {
    ...plain,
    ...(target === undefined ? {} : { target: decodeTarget(target) }),
    session: decodeDelivery(session),
    handler: decodeDelivery(handler),
  };
}

function encodeDelivery(state: DeliveryState): unknown {
  return z.encode(deliveryCodec, state);
}

function decodeDelivery(value: unknown): DeliveryState {
  const { error, ...plain } = z.decode(deliveryCodec, value as z.input<typeof deliveryCodec>);
  return { ...plain, ...(error && { error: error as unknown as ErrorJson }) };
}

function decodeTarget(value: unknown): SessionOwner {
  return z.decode(targetCodec, value as z.input<typeof targetCodec>);
}
