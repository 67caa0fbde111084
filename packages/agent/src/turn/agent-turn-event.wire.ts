import { snakeCaseCodec } from '@holdfast/provider-core/wire';
import * as z from 'zod';
import {
  decodeAgentSessionHandle,
  encodeAgentSessionHandle,
} from '../agent-session-handle.wire.js';
import type { AgentTurnEvent } from './agent-turn.js';

const usageCodec = snakeCaseCodec({
  input_tokens: z.number(),
  output_tokens: z.number(),
  cache_read_tokens: z.number().optional(),
  cache_write_tokens: z.number().optional(),
  cost_usd: z.number().optional(),
});

const text = z.string().optional();

const eventCodec = snakeCaseCodec({
  type: z.string().min(1),
  turn_id: z.string(),
  sequence: z.number().int(),
  at: z.string(),
  text,
  final: z.boolean().optional(),
  name: text,
  call_id: text,
  detail: text,
  request_id: text,
  tool_name: text,
  decision: text,
  by: text,
  answer: text,
  usage: z.unknown().optional(),
  terminal_id: text,
  label: text,
  tmux_session: text,
  kind: text,
  message: text,
  missing: text,
  changed_field: text,
  handle: z.unknown().optional(),
});

/** An event as JSON to keep: snake_case throughout. */
export type AgentTurnEventJson = Readonly<Record<string, unknown>>;

/** The event in the spelling of the wire. */
export function encodeAgentTurnEvent(event: AgentTurnEvent): AgentTurnEventJson {
  const usage = event.type === 'usage' ? z.encode(usageCodec, event.usage) : undefined;
  const handle = event.type === 'completed' ? encodeAgentSessionHandle(event.handle) : undefined;
  return z.encode(eventCodec, { ...event, usage, handle });
}

/** Reads an event; `undefined` for what is none. Types of a newer version pass through. */
export function decodeAgentTurnEvent(value: unknown): AgentTurnEvent | undefined {
  const parsed = eventCodec.safeDecode(value as z.input<typeof eventCodec>);
  if (!parsed.success) return undefined;
  const { usage, handle, ...event } = parsed.data;
  const nested = {
    ...(usage === undefined ? {} : { usage: z.decode(usageCodec, usage as never) }),
    ...(handle === undefined ? {} : { handle: decodeAgentSessionHandle(handle) }),
  };
  return { ...event, ...nested } as AgentTurnEvent;
}
