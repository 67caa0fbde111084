import * as z from 'zod';
import type { JsonValue } from '../../persistence/store.js';
import { CodingThreadError, type CodingThreadErrorKind, retryOf } from '../coding-thread-error.js';

const details = z.strictObject({
  sessionRef: z.string().optional(),
  differingFields: z.array(z.string()).optional(),
  evidence: z.unknown().optional(),
});

const threadError = z.strictObject({
  kind: z.string().refine((kind) => retryOf(kind) !== undefined),
  retry: z.string(),
  message: z.string(),
  details,
});

/** Reads a coding thread error from what its `toJSON()` gave; `undefined` for anything else. */
export function findCodingThreadError(value: unknown): CodingThreadError | undefined {
  const parsed = threadError.safeParse(value);
  if (!parsed.success) return undefined;
  const { kind, message, details: told } = parsed.data;
  const evidence = told.evidence as JsonValue | undefined;
  return new CodingThreadError(kind as CodingThreadErrorKind, message, { ...told, evidence });
}
