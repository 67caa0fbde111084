import * as z from 'zod';
import type { ErrorJson } from '../errors/error-brand.js';
import type { Usage } from '../spec/turn.js';
import type { JournalEntry } from './journal-entry.js';

const instant = z.string();

const cursorJson = z.object({
  path: z.string().optional(),
  file_id: z.string().optional(),
  length: z.number().int().nonnegative(),
  last_record_id: z.string().optional(),
});

const usageJson = z.object({
  input_tokens: z.number(),
  output_tokens: z.number(),
  cache_read_tokens: z.number().optional(),
  cache_write_tokens: z.number().optional(),
  cost_usd: z.number().optional(),
});

const resultJson = z.object({
  answer: z.string(),
  usage: usageJson.optional(),
  session_usage: usageJson.optional(),
  stop_reason: z.string(),
});

/** Written by `toJSON` of our errors; read back by `errorFromJson`, which judges it. */
const errorJson = z.custom<ErrorJson>(
  (value) => typeof value === 'object' && value !== null && 'kind' in value,
);

const outcomeJson = z.discriminatedUnion('status', [
  z.object({ status: z.literal('completed'), result: resultJson }),
  z.object({ status: z.literal('interrupted'), error: errorJson }),
  z.object({ status: z.literal('undeliverable'), error: errorJson }),
]);

const entryJson = z.discriminatedUnion('step', [
  z.object({
    step: z.literal('prepared'),
    turn_id: z.string(),
    message_digest: z.string(),
    attempt: z.number().int(),
    parent_turn_id: z.string().optional(),
    at: instant,
  }),
  z.object({
    step: z.literal('submitting'),
    attempt: z.number().int(),
    cursor: cursorJson,
    way: z.enum(['tmux', 'structured', 'per_turn']).optional(),
    at: instant,
  }),
  z.object({ step: z.literal('accepted'), at: instant, native_turn_id: z.string().optional() }),
  z.object({ step: z.literal('ended'), at: instant, outcome: outcomeJson }),
  z.object({ step: z.literal('parked'), at: instant, error: errorJson }),
  z.object({ step: z.literal('nudged'), at: instant, child_turn_id: z.string() }),
]);

type EntryJson = z.infer<typeof entryJson>;

/** The steps this version knows; a line with another one was written by a newer version. */
export const journalSteps: ReadonlySet<string> = new Set<JournalEntry['step']>([
  'prepared',
  'submitting',
  'accepted',
  'ended',
  'parked',
  'nudged',
]);

/** Reads one line of a journal; absent when it is none. Keys of a newer version are left out. */
export function decodeJournalEntry(value: unknown): JournalEntry | undefined {
  const parsed = entryJson.safeParse(value);
  return parsed.success ? toEntry(parsed.data) : undefined;
}

/** One line of a journal, spelled as on disk. Unlike a handle, it keeps blank strings: an answer may be empty. */
export function encodeJournalEntry(entry: JournalEntry): unknown {
  return toJson(entry);
}

function toEntry(json: EntryJson): JournalEntry {
  switch (json.step) {
    case 'prepared':
      return {
        step: 'prepared',
        turnId: json.turn_id,
        messageDigest: json.message_digest,
        attempt: json.attempt,
        at: json.at,
        ...(json.parent_turn_id === undefined ? {} : { parentTurnId: json.parent_turn_id }),
      };
    case 'submitting':
      return { ...json, cursor: renameCursor(json.cursor) };
    case 'accepted':
      return {
        step: 'accepted',
        at: json.at,
        ...(json.native_turn_id === undefined ? {} : { nativeTurnId: json.native_turn_id }),
      };
    case 'ended':
      return { ...json, outcome: toOutcome(json.outcome) };
    case 'parked':
      return json;
    case 'nudged':
      return { step: 'nudged', at: json.at, childTurnId: json.child_turn_id };
  }
}

function renameCursor(json: z.infer<typeof cursorJson>) {
  return {
    length: json.length,
    ...(json.path === undefined ? {} : { path: json.path }),
    ...(json.file_id === undefined ? {} : { fileId: json.file_id }),
    ...(json.last_record_id === undefined ? {} : { lastRecordId: json.last_record_id }),
  };
}

type Outcome = Extract<JournalEntry, { step: 'ended' }>['outcome'];

function toOutcome(json: z.infer<typeof outcomeJson>): Outcome {
  if (json.status !== 'completed') return json;
  const { answer, usage, session_usage, stop_reason } = json.result;
  return {
    status: 'completed',
    result: {
      answer,
      stopReason: stop_reason,
      ...(usage ? { usage: toUsage(usage) } : {}),
      ...(session_usage ? { sessionUsage: toUsage(session_usage) } : {}),
    },
  };
}

function toUsage(json: z.infer<typeof usageJson>) {
  return {
    inputTokens: json.input_tokens,
    outputTokens: json.output_tokens,
    ...(json.cache_read_tokens === undefined ? {} : { cacheReadTokens: json.cache_read_tokens }),
    ...(json.cache_write_tokens === undefined ? {} : { cacheWriteTokens: json.cache_write_tokens }),
    ...(json.cost_usd === undefined ? {} : { costUsd: json.cost_usd }),
  };
}

// What is undefined here is left out by JSON.stringify.
function toJson(entry: JournalEntry): EntryJson {
  switch (entry.step) {
    case 'prepared':
      return {
        step: 'prepared',
        turn_id: entry.turnId,
        message_digest: entry.messageDigest,
        attempt: entry.attempt,
        parent_turn_id: entry.parentTurnId,
        at: entry.at,
      };
    case 'submitting':
      return { ...entry, cursor: cursorToJson(entry.cursor) };
    case 'accepted':
      return { step: 'accepted', at: entry.at, native_turn_id: entry.nativeTurnId };
    case 'ended':
      return { ...entry, outcome: outcomeToJson(entry.outcome) };
    case 'parked':
      return entry;
    case 'nudged':
      return { step: 'nudged', at: entry.at, child_turn_id: entry.childTurnId };
  }
}

function cursorToJson(cursor: Extract<JournalEntry, { step: 'submitting' }>['cursor']) {
  const { path, fileId, length, lastRecordId } = cursor;
  return { path, file_id: fileId, length, last_record_id: lastRecordId };
}

function outcomeToJson(outcome: Outcome): z.infer<typeof outcomeJson> {
  if (outcome.status !== 'completed') return outcome;
  const { answer, usage, sessionUsage, stopReason } = outcome.result;
  return {
    status: 'completed',
    result: {
      answer,
      usage: usage && usageToJson(usage),
      session_usage: sessionUsage && usageToJson(sessionUsage),
      stop_reason: stopReason,
    },
  };
}

function usageToJson(usage: Usage): z.infer<typeof usageJson> {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    cost_usd: usage.costUsd,
  };
}
