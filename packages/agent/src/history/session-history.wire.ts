import { StateUnusableError } from '@holdfast/provider-core';
import { snakeCaseCodec } from '@holdfast/provider-core/wire';
import * as z from 'zod';
import type { HistoryLine } from './session-history.js';

/** Version of the history file's lines; on users' disks. */
const HISTORY_SCHEMA_VERSION = 1;

const lineCodec = snakeCaseCodec({
  schema_version: z.number().int(),
  type: z.enum(['baseline', 'sent', 'answered', 'accepted', 'withdrawn']),
  turn_id: z.string().optional(),
  digest: z.string().optional(),
  seeded: z.boolean().optional(),
  messages: z
    .array(z.object({ role: z.enum(['user', 'assistant']), digest: z.string() }))
    .readonly()
    .optional(),
});

/** One line as it is written. */
export function encodeHistoryLine(line: HistoryLine): unknown {
  const wire = { schemaVersion: HISTORY_SCHEMA_VERSION, ...line };
  return z.encode(lineCodec, wire as z.output<typeof lineCodec>);
}

/** Reads one line; a newer or damaged one is a `StateUnusableError`, since a guess could send a message twice. */
export function decodeHistoryLine(value: unknown, path: string): HistoryLine {
  const parsed = lineCodec.safeDecode(value as z.input<typeof lineCodec>);
  if (!parsed.success) {
    throw new StateUnusableError(path, 'damaged', 'a line of it is no part of a history.');
  }
  if (parsed.data.schemaVersion > HISTORY_SCHEMA_VERSION) {
    throw new StateUnusableError(path, 'newer_format', 'it was written by a newer version.');
  }
  return parsed.data as unknown as HistoryLine;
}
