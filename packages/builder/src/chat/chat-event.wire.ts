import {
  decodeAgentSessionHandle,
  decodeAgentTurnEvent,
  encodeAgentSessionHandle,
  encodeAgentTurnEvent,
  StateUnusableError,
  snakeCaseCodec,
} from '@holdfast/agent';
import * as z from 'zod';
import type { JsonValue } from '../persistence/store.js';
import type { ChatEvent } from './chat-event.js';
import { decodeLegacyChat, encodeLegacyChat } from './legacy-chat.wire.js';
import { messageWire } from './message.wire.js';

/** The newest version of a log's lines this version reads; on users' disks. */
const CHAT_SCHEMA_VERSION = 2;

/** What version 1 does not know; all else is written as it was, for older readers. */
const SINCE_VERSION_2: ReadonlySet<string> = new Set([
  'message_queued',
  'message_steered',
  'message_confirmed',
]);

const usageCodec = snakeCaseCodec({
  input_tokens: z.number(),
  output_tokens: z.number(),
  cache_read_tokens: z.number().optional(),
  cache_write_tokens: z.number().optional(),
});

const chatMessageCodec = snakeCaseCodec({
  role: z.enum(['user', 'assistant', 'system', 'tool']),
  text: z.string(),
  turn_id: z.string().optional(),
  at: z.string().optional(),
});

const stamp = {
  schema_version: z.number().int(),
  chat_id: z.string().min(1),
  sequence: z.number().int(),
  at: z.string(),
};

const codecs = {
  chat_opened: snakeCaseCodec({ ...stamp, agent: z.string(), title: z.string().optional() }),
  chat_imported: snakeCaseCodec({
    ...stamp,
    record: z.unknown().optional(),
    messages: z.array(z.unknown()).readonly(),
  }),
  turn_started: snakeCaseCodec({ ...stamp, turn_id: z.string(), message: messageWire }),
  handle_changed: snakeCaseCodec({ ...stamp, handle: z.unknown() }),
  turn_event: snakeCaseCodec({ ...stamp, turn_id: z.string(), event: z.unknown() }),
  turn_completed: snakeCaseCodec({
    ...stamp,
    turn_id: z.string(),
    answer: z.string().optional(),
    usage: z.unknown().optional(),
    stop_reason: z.string(),
    recovered: z.boolean(),
  }),
  turn_failed: snakeCaseCodec({
    ...stamp,
    turn_id: z.string(),
    error: z.looseObject({ family: z.string(), kind: z.string(), message: z.string() }),
  }),
  message_queued: snakeCaseCodec({ ...stamp, message_id: z.string(), turn_id: z.string() }),
  message_steered: snakeCaseCodec({
    ...stamp,
    message_id: z.string(),
    turn_id: z.string(),
    message: messageWire,
  }),
  message_confirmed: snakeCaseCodec({
    ...stamp,
    message_id: z.string(),
    turn_id: z.string(),
    outcome: z.enum(['confirmed', 'failed', 'uncertain']),
  }),
  chat_closed: snakeCaseCodec({ ...stamp, archived: z.boolean() }),
} as const;

/** One line as it is written. */
export function encodeChatEvent(event: ChatEvent): JsonValue {
  const schemaVersion = SINCE_VERSION_2.has(event.type) ? 2 : 1;
  const wire = { ...event, ...encodeNested(event), schemaVersion };
  return z.encode(codecs[event.type] as z.ZodType, wire) as JsonValue;
}

function encodeNested(event: ChatEvent): Readonly<Record<string, unknown>> {
  switch (event.type) {
    case 'chat_imported':
      return {
        record: encodeLegacyChat(event.record),
        messages: event.messages.map((one) => z.encode(chatMessageCodec, one)),
      };
    case 'handle_changed':
      return { handle: encodeAgentSessionHandle(event.handle) };
    case 'turn_event':
      return { event: encodeAgentTurnEvent(event.event) };
    case 'turn_completed':
      return { usage: event.usage && z.encode(usageCodec, event.usage) };
    default:
      return {};
  }
}

/** Reads one line; a newer or damaged one is a `StateUnusableError`, and the log stays as it is. */
export function decodeChatEvent(value: unknown, path: string): ChatEvent {
  const version = readField(value, 'schema_version');
  if (typeof version === 'number' && version > CHAT_SCHEMA_VERSION) {
    throw new StateUnusableError(path, 'newer_format', 'it was written by a newer version.');
  }
  const type = String(readField(value, 'type'));
  const codec = type in codecs ? codecs[type as keyof typeof codecs] : undefined;
  const parsed = (codec as z.ZodType | undefined)?.safeDecode(value);
  if (!parsed?.success) {
    throw new StateUnusableError(path, 'damaged', `a line of type ${type} cannot be read.`);
  }
  const event = parsed.data as ChatEvent;
  return { ...event, ...decodeNested(event) } as ChatEvent;
}

/** Nested objects are still in the wire's spelling here. */
function decodeNested(event: ChatEvent): Readonly<Record<string, unknown>> {
  switch (event.type) {
    case 'chat_imported':
      return {
        record: decodeLegacyChat(event.record) ?? {},
        messages: event.messages.map((one) => z.decode(chatMessageCodec, one as never)),
      };
    case 'handle_changed':
      return { handle: decodeAgentSessionHandle(event.handle) };
    case 'turn_event':
      return { event: decodeAgentTurnEvent(event.event) };
    case 'turn_completed':
      // A blank answer counts as absent in JSON; in the event it is the empty text.
      return {
        answer: event.answer ?? '',
        ...(event.usage ? { usage: z.decode(usageCodec, event.usage as never) } : {}),
      };
    default:
      return {};
  }
}

function readField(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}
