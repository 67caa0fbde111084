import { snakeCaseCodec } from '@holdfast/provider-core/wire';
import * as z from 'zod';
import type { LegacyRuntime } from './legacy-runtime.js';

/** A value of another kind than expected counts as absent: one bad field must not cost the others. */
const text = z.string().optional().catch(undefined);

const runtimeCodec = snakeCaseCodec({
  kind: text,
  provider: text,
  model_id: text,
  transport: text,
  external_session_id: text,
  resume_supported: z.boolean().optional().catch(undefined),
  resume_flag: text,
  project_dir_id: text,
  workspace_path: text,
  workshop_mode: text,
  captured_at: text,
  agent_session_handle: z.unknown().optional(),
  server_name: text,
  selected_tools: z.array(z.string()).readonly().optional().catch(undefined),
});

/** Reads a legacy runtime record from its object or JSON text; `undefined` when it is none. */
export function decodeLegacyRuntime(value: unknown): LegacyRuntime | undefined {
  const record = readObject(value);
  if (!record) return undefined;
  const parsed = runtimeCodec.safeDecode(record as z.input<typeof runtimeCodec>);
  return parsed.success ? parsed.data : undefined;
}

/** The record in the spelling of the wire, unknown keys included. */
export function encodeLegacyRuntime(runtime: LegacyRuntime): Readonly<Record<string, unknown>> {
  return z.encode(runtimeCodec, runtime as z.output<typeof runtimeCodec>);
}

/** An object, or JSON text of one; anything else is `undefined`. */
export function readObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value === 'string') {
    try {
      return readObject(JSON.parse(value));
    } catch {
      return undefined;
    }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as Readonly<Record<string, unknown>>;
}
