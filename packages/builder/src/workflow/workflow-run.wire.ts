import { StateUnusableError, snakeCaseCodec } from '@holdfast/agent';
import * as z from 'zod';
import type { JsonValue } from '../persistence/store.js';
import type { RunRecord } from './workflow-run.js';

/** Version of a run's record; on users' disks. */
const RUN_SCHEMA_VERSION = 1;

const owner = z.union([
  snakeCaseCodec({ kind: z.literal('chat'), chat_id: z.string() }),
  snakeCaseCodec({ kind: z.literal('execution'), execution_id: z.string() }),
]);

const runCodec = snakeCaseCodec({
  schema_version: z.number().int(),
  workflow_id: z.string(),
  iteration: z.string(),
  group: z.string(),
  input: z.unknown().optional(),
  notify: owner.optional(),
  correlation_id: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  outcome: z.enum(['open', 'completed', 'failed', 'stopped']),
  error: z.looseObject({ kind: z.string(), message: z.string() }).optional(),
});

/** The record as it is written. */
export function encodeRunRecord(record: RunRecord): JsonValue {
  const wire = { ...record, schemaVersion: RUN_SCHEMA_VERSION };
  return z.encode(runCodec, wire as z.output<typeof runCodec>) as JsonValue;
}

/** Reads a run's record; a damaged or newer one is a `StateUnusableError` and stays as it is. */
export function decodeRunRecord(value: unknown, place: string): RunRecord {
  const parsed = runCodec.safeDecode(value as z.input<typeof runCodec>);
  if (!parsed.success) throw new StateUnusableError(place, 'damaged', 'it is no run.');
  const { schemaVersion, ...record } = parsed.data;
  if (schemaVersion > RUN_SCHEMA_VERSION) {
    throw new StateUnusableError(place, 'newer_format', 'it was written by a newer version.');
  }
  return { ...record, input: (record.input ?? null) as JsonValue } as RunRecord;
}
