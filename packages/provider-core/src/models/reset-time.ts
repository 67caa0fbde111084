import type { VendorError } from './vendor-error.wire.js';

/** The response headers of a failed request, by lower-case name. */
export type ResponseHeaders = Readonly<Record<string, string>>;

/**
 * The ISO instant at which a limit ends, where the vendor told it: an instant first, then a wait counted from `nowMs`.
 * What cannot be read counts as not told.
 */
export function readResetAt(
  { headers, error }: { readonly headers: ResponseHeaders; readonly error: VendorError },
  nowMs: number,
): string | undefined {
  const epochSeconds = error.resetsAt ?? readNumber(headers['anthropic-ratelimit-unified-reset']);
  if (epochSeconds !== undefined) return toIso(epochSeconds * 1000);
  const waitMs = findWaitMs(headers, error);
  if (waitMs !== undefined) return toIso(nowMs + waitMs);
  const retryDate = Date.parse(headers['retry-after'] ?? '');
  return toIso(Number.isNaN(retryDate) ? findUsedUpReset(headers) : retryDate);
}

function findWaitMs(headers: ResponseHeaders, error: VendorError): number | undefined {
  const retryAfterMs = readNumber(headers['retry-after-ms']);
  if (retryAfterMs !== undefined) return retryAfterMs;
  const seconds = readNumber(headers['retry-after']) ?? error.resetsInSeconds;
  if (seconds !== undefined) return seconds * 1000;
  const delays = error.details.flatMap(({ retryDelay }) => readDuration(retryDelay) ?? []);
  return delays.at(0) ?? findUsedUpWait(headers);
}

/** OpenAI tells a wait for each of its limits; the one that is used up counts. */
function findUsedUpWait(headers: ResponseHeaders): number | undefined {
  const waits = ['requests', 'tokens']
    .filter((limit) => headers[`x-ratelimit-remaining-${limit}`] === '0')
    .flatMap((limit) => readDuration(headers[`x-ratelimit-reset-${limit}`]) ?? []);
  return waits.length > 0 ? Math.max(...waits) : undefined;
}

/** Anthropic tells an instant for each of its limits; the one that is used up counts. */
function findUsedUpReset(headers: ResponseHeaders): number | undefined {
  const instants = ['requests', 'tokens', 'input-tokens', 'output-tokens']
    .filter((limit) => headers[`anthropic-ratelimit-${limit}-remaining`] === '0')
    .map((limit) => Date.parse(headers[`anthropic-ratelimit-${limit}-reset`] ?? ''))
    .filter((instant) => !Number.isNaN(instant));
  return instants.length > 0 ? Math.max(...instants) : undefined;
}

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Milliseconds of a duration such as `1h2m3.5s`, `20ms` or `37s`. */
function readDuration(text: string | undefined): number | undefined {
  if (text === undefined || !/^(?:\d+(?:\.\d+)?(?:ms|h|m|s))+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)];
  return parts.reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * (unitMs[unit ?? ''] ?? 0),
    0,
  );
}

function readNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined;
}

function toIso(ms: number | undefined): string | undefined {
  // Beyond this a Date holds no instant.
  return ms !== undefined && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : undefined;
}
