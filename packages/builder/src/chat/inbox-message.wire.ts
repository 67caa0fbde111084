import { StateUnusableError, snakeCaseCodec } from '@holdfast/agent';
import * as z from 'zod';
import type { JsonValue } from '../persistence/store.js';
import type { InboxMessage } from './inbox.js';
import { messageWire } from './message.wire.js';

/** Version of a waiting message's record; on users' disks. */
const INBOX_SCHEMA_VERSION = 1;

const inboxCodec = snakeCaseCodec({
  schema_version: z.number().int(),
  message_id: z.string().min(1),
  message: messageWire,
  posted_at: z.string(),
});

/** The record as it is written. */
export function encodeInboxMessage(message: InboxMessage): JsonValue {
  return z.encode(inboxCodec, { ...message, schemaVersion: INBOX_SCHEMA_VERSION }) as JsonValue;
}

/** Reads a record; a newer or damaged one is a `StateUnusableError`, and it stays as it is. */
export function decodeInboxMessage(value: unknown, path: string): InboxMessage {
  const parsed = inboxCodec.safeDecode(value as z.input<typeof inboxCodec>);
  const version = parsed.data?.schemaVersion;
  if (version !== undefined && version > INBOX_SCHEMA_VERSION) {
    throw new StateUnusableError(path, 'newer_format', 'it was written by a newer version.');
  }
  if (!parsed.success) throw new StateUnusableError(path, 'damaged', 'it is no message.');
  const { messageId, message = '', postedAt } = parsed.data;
  return { messageId, message, postedAt };
}
