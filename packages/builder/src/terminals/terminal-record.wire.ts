import {
  decodeAgentSessionHandle,
  encodeAgentSessionHandle,
  StateUnusableError,
  snakeCaseCodec,
} from '@holdfast/agent';
import * as z from 'zod';
import type { JsonValue } from '../persistence/store.js';
import type { TerminalRecord } from './terminal-record.js';

/** Version of a record of terminals; on users' disks. */
const TERMINALS_SCHEMA_VERSION = 1;

const ownerCodec = z.union([
  snakeCaseCodec({ kind: z.literal('chat'), chat_id: z.string() }),
  snakeCaseCodec({ kind: z.literal('execution'), execution_id: z.string() }),
]);

const contextCodec = snakeCaseCodec({
  agent: z.string(),
  scope: z.string(),
  session_id: z.string(),
  correlation_id: z.string(),
  chat_id: z.string().optional(),
  execution_id: z.string().optional(),
});

const sessionCodec = snakeCaseCodec({
  context: contextCodec,
  handle: z.unknown(),
  last_active_at: z.string(),
  closed_at: z.string().optional(),
  close_reason: z.enum(['closed', 'work_ended', 'idle']).optional(),
});

const snapshotCodec = snakeCaseCodec({
  terminal_id: z.string(),
  session_id: z.string(),
  captured_at: z.string(),
  closes_at: z.string().optional(),
});

const recordCodec = snakeCaseCodec({
  schema_version: z.number().int(),
  owner: ownerCodec,
  policy: z.enum(['persistent', 'bounded']),
  sessions: z.array(sessionCodec).readonly(),
  snapshots: z.array(snapshotCodec).readonly(),
  updated_at: z.string(),
});

const textCodec = snakeCaseCodec({
  schema_version: z.number().int(),
  terminal_id: z.string(),
  owner_id: z.string(),
  captured_at: z.string(),
  content: z.string().optional(),
});

/** The text of a snapshot, as it is kept. */
export interface SnapshotText {
  readonly terminalId: string;
  readonly ownerId: string;
  readonly capturedAt: string;
  readonly content: string;
}

/** The record as it is written. */
export function encodeTerminalRecord(record: TerminalRecord): JsonValue {
  const sessions = record.sessions.map((one) => ({
    ...one,
    handle: encodeAgentSessionHandle(one.handle),
  }));
  const wire = { ...record, sessions, schemaVersion: TERMINALS_SCHEMA_VERSION };
  return z.encode(recordCodec, wire) as JsonValue;
}

/** Reads a record; a newer or damaged one is a `StateUnusableError`, and it stays as it is. */
export function decodeTerminalRecord(value: unknown, path: string): TerminalRecord {
  const parsed = recordCodec.safeDecode(value as z.input<typeof recordCodec>);
  checkVersion(value, path);
  if (!parsed.success)
    throw new StateUnusableError(path, 'damaged', 'it is no record of terminals.');
  const { schemaVersion: _version, ...record } = parsed.data;
  const sessions = record.sessions.map((one) => ({
    ...one,
    handle: decodeAgentSessionHandle(one.handle),
  }));
  return { ...record, sessions } as TerminalRecord;
}

/** The text as it is written. */
export function encodeSnapshotText(text: SnapshotText): JsonValue {
  return z.encode(textCodec, { ...text, schemaVersion: TERMINALS_SCHEMA_VERSION }) as JsonValue;
}

/** Reads a text; `undefined` for what is none. */
export function decodeSnapshotText(value: unknown): SnapshotText | undefined {
  const parsed = textCodec.safeDecode(value as z.input<typeof textCodec>);
  if (!parsed.success || parsed.data.schemaVersion > TERMINALS_SCHEMA_VERSION) return undefined;
  const { schemaVersion: _version, content = '', ...text } = parsed.data;
  return { ...text, content };
}

function checkVersion(value: unknown, path: string): void {
  const version = z.looseObject({ schema_version: z.number() }).safeParse(value);
  if (!version.success || version.data.schema_version <= TERMINALS_SCHEMA_VERSION) return;
  throw new StateUnusableError(path, 'newer_format', 'it was written by a newer version.');
}
