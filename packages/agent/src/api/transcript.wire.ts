import { StateUnusableError } from '@holdfast/provider-core';
import * as z from 'zod';
import type { TranscriptRecord } from './transcript-record.js';

/** Version of the transcript's lines; on users' disks. */
const TRANSCRIPT_SCHEMA_VERSION = 1;

const userPart = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('image'), media_type: z.string(), data: z.string() }),
]);

const assistantPart = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({
    type: z.literal('tool_call'),
    call_id: z.string(),
    tool_name: z.string(),
    input: z.unknown(),
  }),
  z.looseObject({ type: z.literal('opaque'), vendor: z.string(), value: z.unknown() }),
]);

const conversationMessage = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('user'), content: z.array(userPart) }),
  z.looseObject({ role: z.literal('assistant'), content: z.array(assistantPart) }),
  z.looseObject({
    role: z.literal('tool'),
    call_id: z.string(),
    tool_name: z.string(),
    output: z.string(),
    is_error: z.boolean(),
  }),
]);

const usage = z.looseObject({
  input_tokens: z.number(),
  output_tokens: z.number(),
  cache_read_tokens: z.number().optional(),
  cache_write_tokens: z.number().optional(),
  cost_usd: z.number().optional(),
});

/** Written by `toJSON` of our errors; read back by `errorFromJson`, which judges it. */
const errorJson = z.looseObject({ family: z.string(), kind: z.string(), message: z.string() });

const outcome = z.discriminatedUnion('status', [
  z.looseObject({
    status: z.literal('completed'),
    answer: z.string(),
    usage: usage.optional(),
    session_usage: usage.optional(),
    stop_reason: z.string(),
    recovered: z.boolean(),
  }),
  z.looseObject({ status: z.literal('interrupted'), error: errorJson }),
]);

const inTurn = { turn_id: z.string(), at: z.string() };
const inStep = { ...inTurn, step: z.number().int().positive() };
const inCall = { ...inStep, call_id: z.string() };

const record = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('session_opened'),
    schema_version: z.number().int(),
    session_id: z.string(),
    provider: z.string(),
    model: z.string(),
    stable_fields: z.record(z.string(), z.string()),
    working_dir: z.string().optional(),
    conversation: z.array(conversationMessage),
    at: z.string(),
  }),
  z.looseObject({
    type: z.literal('turn_started'),
    message_digest: z.string(),
    message: z.array(userPart),
    ...inTurn,
  }),
  z.looseObject({ type: z.literal('step_started'), ...inStep }),
  z.looseObject({
    type: z.literal('step_finished'),
    content: z.array(assistantPart),
    usage: usage.optional(),
    stop_reason: z.string(),
    ...inStep,
  }),
  z.looseObject({
    type: z.literal('step_discarded'),
    usage: usage.optional(),
    stop_reason: z.string(),
    ...inStep,
  }),
  z.looseObject({
    type: z.literal('approval_requested'),
    request_id: z.string(),
    tool_name: z.string(),
    detail: z.string(),
    ...inCall,
  }),
  z.looseObject({
    type: z.literal('approval_settled'),
    request_id: z.string(),
    decision: z.enum(['allow', 'deny']),
    by: z.enum(['host', 'person', 'deadline', 'policy', 'interrupt']),
    message: z.string().optional(),
    updated_input: z.unknown().optional(),
    ...inCall,
  }),
  z.looseObject({ type: z.literal('tool_call_started'), tool_name: z.string(), ...inCall }),
  z.looseObject({
    type: z.literal('tool_call_finished'),
    output: z.string(),
    is_error: z.boolean(),
    ending: z.enum(['called', 'denied', 'unknown']),
    ...inCall,
  }),
  z.looseObject({ type: z.literal('turn_parked'), error: errorJson, ...inTurn }),
  z.looseObject({
    type: z.literal('turn_ended'),
    outcome,
    message_digest: z.string().optional(),
    ...inTurn,
  }),
  z.looseObject({ type: z.literal('session_closed'), archived: z.boolean(), at: z.string() }),
]);

const RECORD_TYPES: ReadonlySet<unknown> = new Set(
  record.options.flatMap((option) => [...option.shape.type.values]),
);

/** One line as it is written. Keys of a newer version that were read are written back. */
export function encodeTranscriptRecord(value: TranscriptRecord): unknown {
  const body = rename(value, WIRE_NAMES);
  const isFirst = value.type === 'session_opened';
  return isFirst ? { schema_version: TRANSCRIPT_SCHEMA_VERSION, ...body } : body;
}

/** Reads one line; a newer or damaged one is a `StateUnusableError`, since a guess could call a tool twice. */
export function decodeTranscriptRecord(value: unknown, path: string): TranscriptRecord {
  if (isNewer(value)) {
    throw new StateUnusableError(path, 'newer_format', 'it was written by a newer version.');
  }
  const parsed = record.safeParse(value);
  if (!parsed.success) {
    throw new StateUnusableError(path, 'damaged', 'a line of it is no part of a transcript.');
  }
  return rename(parsed.data, MODEL_NAMES) as unknown as TranscriptRecord;
}

function isNewer(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  const version = 'schema_version' in value ? value.schema_version : TRANSCRIPT_SCHEMA_VERSION;
  if (typeof version === 'number' && version > TRANSCRIPT_SCHEMA_VERSION) return true;
  return typeof value.type === 'string' && !RECORD_TYPES.has(value.type);
}

const MODEL_NAMES: ReadonlyMap<string, string> = new Map([
  ['turn_id', 'turnId'],
  ['session_id', 'sessionId'],
  ['schema_version', 'schemaVersion'],
  ['stable_fields', 'stableFields'],
  ['working_dir', 'workingDir'],
  ['message_digest', 'messageDigest'],
  ['session_usage', 'sessionUsage'],
  ['stop_reason', 'stopReason'],
  ['request_id', 'requestId'],
  ['tool_name', 'toolName'],
  ['updated_input', 'updatedInput'],
  ['call_id', 'callId'],
  ['is_error', 'isError'],
  ['media_type', 'mediaType'],
  ['input_tokens', 'inputTokens'],
  ['output_tokens', 'outputTokens'],
  ['cache_read_tokens', 'cacheReadTokens'],
  ['cache_write_tokens', 'cacheWriteTokens'],
  ['cost_usd', 'costUsd'],
]);

const WIRE_NAMES: ReadonlyMap<string, string> = new Map(
  [...MODEL_NAMES].map(([wire, model]) => [model, wire]),
);

/** Under these keys stands what is not ours to spell: a model's input, a vendor's value, an error, digests by field. */
const FOREIGN: ReadonlySet<string> = new Set([
  'input',
  'value',
  'error',
  'updatedInput',
  'updated_input',
  'stableFields',
  'stable_fields',
]);

function rename(value: unknown, names: ReadonlyMap<string, string>): object {
  return renameAny(value, names) as object;
}

function renameAny(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((one) => renameAny(one, names));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(
    fields.map(([key, field]) => [
      names.get(key) ?? key,
      FOREIGN.has(key) ? field : renameAny(field, names),
    ]),
  );
}
