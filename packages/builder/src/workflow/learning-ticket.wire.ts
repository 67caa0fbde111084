import { snakeCaseCodec } from '@holdfast/agent';
import * as z from 'zod';
import type { JsonValue } from '../persistence/store.js';
import type { LearningTicket, LockHolder } from './learning-ticket.js';

/** Version of what stands below a lock; on users' disks. */
const LOCK_SCHEMA_VERSION = 1;

const ticketCodec = snakeCaseCodec({
  schema_version: z.number().int(),
  execution_id: z.string().min(1),
  number: z.number().int().min(1),
  since: z.string(),
});

const holderCodec = snakeCaseCodec({
  schema_version: z.number().int(),
  execution_id: z.string().min(1),
  number: z.number().int().min(1),
  pid: z.number(),
  host_id: z.string().optional(),
  since: z.string(),
});

/** A ticket as it stands on disk. */
export function encodeTicket(ticket: LearningTicket): JsonValue {
  return z.encode(ticketCodec, { ...ticket, schemaVersion: LOCK_SCHEMA_VERSION }) as JsonValue;
}

/** Reads a ticket; `undefined` for what is none, also for one of a newer version. */
export function decodeTicket(value: unknown): LearningTicket | undefined {
  const parsed = ticketCodec.safeDecode(value as z.input<typeof ticketCodec>);
  if (!parsed.success || parsed.data.schemaVersion > LOCK_SCHEMA_VERSION) return undefined;
  const { executionId, number, since } = parsed.data;
  return { executionId, number, since };
}

/** Who holds the lock, as it stands on disk. */
export function encodeHolder(holder: LockHolder): JsonValue {
  return z.encode(holderCodec, { ...holder, schemaVersion: LOCK_SCHEMA_VERSION }) as JsonValue;
}

/** Reads who holds the lock; `undefined` for what says nothing of it. */
export function decodeHolder(value: unknown): LockHolder | undefined {
  const parsed = holderCodec.safeDecode(value as z.input<typeof holderCodec>);
  if (!parsed.success || parsed.data.schemaVersion > LOCK_SCHEMA_VERSION) return undefined;
  const { executionId, number, pid, hostId = '', since } = parsed.data;
  return { executionId, number, pid, hostId, since };
}
