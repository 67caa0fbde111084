import { decodeLegacyRuntime, encodeLegacyRuntime, snakeCaseCodec } from '@holdfast/agent';
import * as z from 'zod';
import type { ChatMessage, LegacyChat } from './legacy-chat.js';

/** One field of another kind than expected must not cost the others. */
const text = z.string().optional().catch(undefined);
const list = z.array(z.unknown()).readonly().optional().catch(undefined);

const recordCodec = snakeCaseCodec({
  session_id: text,
  agent_mode: text,
  phase_id: text,
  workshop_mode: text,
  updated_at: text,
  runtime: z.unknown().optional(),
  terminal_snapshots: list,
  ui_events: list,
});

/** The record in the spelling of the wire, unknown keys included. */
export function encodeLegacyChat(record: LegacyChat): Readonly<Record<string, unknown>> {
  const runtime = record.runtime && encodeLegacyRuntime(record.runtime);
  return z.encode(recordCodec, { ...record, runtime });
}

/** Reads a legacy chat record, its messages left out; `undefined` when it is none. */
export function decodeLegacyChat(value: unknown): LegacyChat | undefined {
  const parsed = recordCodec.safeDecode(value as z.input<typeof recordCodec>);
  if (!parsed.success) return undefined;
  const { conversation_history: _messages, ...record } = parsed.data as typeof parsed.data & {
    conversation_history?: unknown;
  };
  return { ...record, runtime: decodeLegacyRuntime(record.runtime) };
}

/** The messages of a legacy record, for display; whatever has no text keeps its place with none. */
export function decodeLegacyMessages(value: unknown): readonly ChatMessage[] {
  const messages = readField(value, 'conversation_history');
  if (!Array.isArray(messages)) return [];
  return messages.map((one) => ({ role: readRole(one), text: readText(one) }));
}

/** Both spellings were written, depending on the writer's age. */
function readRole(message: unknown): ChatMessage['role'] {
  const role = readField(message, 'role') ?? readField(message, 'Role');
  return ROLES[String(role).toLowerCase()] ?? 'tool';
}

const ROLES: Readonly<Record<string, ChatMessage['role']>> = {
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  ai: 'assistant',
  system: 'system',
  tool: 'tool',
};

function readText(message: unknown): string {
  const own = TEXT_KEYS.map((key) => readField(message, key)).find(isText);
  if (own !== undefined) return own;
  const parts = PART_KEYS.map((key) => readField(message, key)).find(Array.isArray);
  return (parts ?? []).map((part) => (isText(part) ? part : readText(part))).join('');
}

const TEXT_KEYS = ['text', 'Text', 'content', 'Content'] as const;
const PART_KEYS = ['parts', 'Parts', 'content', 'Content'] as const;

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function readField(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}
