import { StateUnusableError } from '@holdfast/provider-core';
import { snakeCaseCodec } from '@holdfast/provider-core/wire';
import * as z from 'zod';
import {
  decodeAgentSessionHandle,
  encodeAgentSessionHandle,
} from '../agent-session-handle.wire.js';
import type { QueuedMessage, QueueState } from './queued-message.js';

/** Version of the queue file; on users' disks. */
const QUEUE_SCHEMA_VERSION = 1;

const imageCodec = snakeCaseCodec({
  type: z.literal('image'),
  media_type: z.string(),
  data: z.string(),
});

const textPart = z.object({ type: z.literal('text'), text: z.string() });

const messageCodec = snakeCaseCodec({
  turn_id: z.string(),
  message: z.union([z.string(), z.array(z.union([textPart, imageCodec])).readonly()]),
  enqueued_at: z.string(),
});

const fileCodec = snakeCaseCodec({
  schema_version: z.number().int(),
  messages: z.array(z.unknown()).readonly(),
  handle: z.unknown().optional(),
});

/** The queue as it is written. */
export function encodeQueueState(state: QueueState): unknown {
  return z.encode(fileCodec, {
    ...state,
    schemaVersion: QUEUE_SCHEMA_VERSION,
    messages: state.messages.map((one) => z.encode(messageCodec, one)),
    handle: state.handle && encodeAgentSessionHandle(state.handle),
  });
}

/** Reads the queue; a newer or damaged one is a `StateUnusableError` and stays as it is. */
export function decodeQueueState(value: unknown, path: string): QueueState {
  const parsed = fileCodec.safeDecode(value as z.input<typeof fileCodec>);
  if (!parsed.success) throw new StateUnusableError(path, 'damaged', 'it is no queue.');
  const { schemaVersion, ...file } = parsed.data;
  if (schemaVersion > QUEUE_SCHEMA_VERSION) {
    throw new StateUnusableError(path, 'newer_format', 'it was written by a newer version.');
  }
  const messages = file.messages.map((one) => readMessage(one, path));
  const handle = file.handle === undefined ? undefined : decodeAgentSessionHandle(file.handle);
  return { ...file, messages, handle };
}

function readMessage(value: unknown, path: string): QueuedMessage {
  const parsed = messageCodec.safeDecode(value as z.input<typeof messageCodec>);
  if (parsed.success) return parsed.data;
  throw new StateUnusableError(path, 'damaged', 'a message in it is none.');
}
