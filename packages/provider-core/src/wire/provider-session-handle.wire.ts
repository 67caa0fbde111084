import * as z from 'zod';
import { NonContinuableError } from '../errors/continuation-error.js';
import type { CodingProviderSessionHandle } from '../spec/provider-session-handle.js';
import { snakeCaseCodec } from './snake-case-codec.js';

/** The handle as it stands in persisted JSON. Field names here are on users' disks. */
export const codingProviderSessionHandleCodec = snakeCaseCodec({
  provider: z.string().min(1),
  transport: z.enum(['tmux', 'structured', 'api']),
  native_session_id: z.string().optional(),
  tmux_session: z.string().optional(),
  working_dir: z.string().optional(),
  project_dir_id: z.string().optional(),
  model: z.string().optional(),
  // Open on purpose: a status of a newer version survives a round trip.
  status: z.string().optional(),
  schema_version: z.number().int().optional(),
  revision: z.number().int().optional(),
  stable_fields: z.record(z.string(), z.string()).readonly().optional(),
  last_turn_id: z.string().optional(),
});

/** The handle as JSON to keep: snake_case, unknown keys included. */
export type CodingProviderSessionHandleJson = z.input<typeof codingProviderSessionHandleCodec>;

/** The handle in the spelling of the wire. */
export function encodeCodingProviderSessionHandle(
  handle: CodingProviderSessionHandle,
): CodingProviderSessionHandleJson {
  return z.encode(codingProviderSessionHandleCodec, handle);
}

/**
 * Reads a handle from its JSON object or JSON string. A handle that is not one is a
 * {@link NonContinuableError} that names the missing part.
 */
export function decodeCodingProviderSessionHandle(value: unknown): CodingProviderSessionHandle {
  const parsed = codingProviderSessionHandleCodec.safeDecode(
    parseJsonText(value) as CodingProviderSessionHandleJson,
  );
  if (parsed.success) return parsed.data;
  const field = String(parsed.error.issues[0]?.path[0] ?? 'provider');
  const missing = field === 'transport' ? 'transport' : 'provider';
  throw new NonContinuableError(
    providerName(value),
    missing,
    `${field}: ${parsed.error.issues[0]?.message ?? 'not a handle'}`,
  );
}

function parseJsonText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

function providerName(value: unknown): string {
  const provider =
    typeof value === 'object' && value !== null && 'provider' in value ? value.provider : undefined;
  return typeof provider === 'string' && provider ? provider : 'unknown';
}
