import { z } from 'zod';

const text = z.string().optional().catch(undefined);
const count = z.number().optional().catch(undefined);

const vendorError = z.object({
  type: text,
  code: z.union([z.string(), z.number()]).transform(String).optional().catch(undefined),
  status: text,
  message: text,
  param: text,
  resets_at: count,
  resets_in_seconds: count,
  details: z
    .array(z.object({ reason: text, retryDelay: text }).catch({}))
    .optional()
    .catch(undefined),
});

const envelope = z.object({
  error: vendorError.optional().catch(undefined),
  response: z
    .object({ error: vendorError.optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

/** An error in a vendor's own words; what it leaves out is undefined. */
export interface VendorError {
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  /** Gemini's name for it, such as `RESOURCE_EXHAUSTED`. */
  readonly status?: string | undefined;
  readonly message?: string | undefined;
  /** The field of the request that it is about. */
  readonly param?: string | undefined;
  /** Seconds since 1970 at which a limit ends. */
  readonly resetsAt?: number | undefined;
  readonly resetsInSeconds?: number | undefined;
  /** Gemini's further words: the reason, and a wait such as `37s`. */
  readonly details: readonly {
    readonly reason?: string | undefined;
    readonly retryDelay?: string | undefined;
  }[];
}

/** Reads an error from a response body or from an event of a stream, in whichever envelope it stands. */
export function readVendorError(value: unknown): VendorError {
  const body = typeof value === 'string' ? readJson(value) : value;
  // Gemini wraps an error that comes in place of a stream into an array.
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const around = envelope.safeParse(first).data;
  const error = around?.error ?? around?.response?.error ?? vendorError.safeParse(first).data;
  const { resets_at, resets_in_seconds, details = [], ...rest } = error ?? {};
  return { ...rest, resetsAt: resets_at, resetsInSeconds: resets_in_seconds, details };
}

function readJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
