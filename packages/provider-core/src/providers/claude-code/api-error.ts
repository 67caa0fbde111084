import type { RecordEvent } from '../../spec/record-event.js';

type TurnFailed = Extract<RecordEvent, { type: 'turn_failed' }>;

/** What is known of a failed model call, from a transcript row or from a hook. */
export interface ApiError {
  /** The CLI's own word for it, such as `rate_limit`. */
  readonly error: string;
  readonly text: string;
  readonly details?: string | undefined;
  readonly status?: number | undefined;
}

/** Reads why a turn failed. The CLI's word comes first, the HTTP status where the word is too wide. */
export function readApiError(apiError: ApiError): Omit<TurnFailed, 'type'> {
  const resetAt = readResetAt(apiError.text);
  return {
    reason: readReason(apiError),
    detail: apiError.text,
    ...(resetAt === undefined ? {} : { resetAt }),
  };
}

function readReason({ error, text, details = '', status }: ApiError): TurnFailed['reason'] {
  const whole = `${text}\n${details}`;
  if (error === 'authentication_failed' || error === 'oauth_org_not_allowed')
    return 'auth_required';
  if (/Not logged in|Please run \/login/.test(text)) return 'auth_required';
  if (error === 'rate_limit' || status === 429) return 'rate_limited';
  if (error === 'model_not_found') return 'model_not_found';
  if (error === 'billing_error' || status === 402) return 'billing';
  if (error === 'overloaded' || status === 529 || status === 503) return 'overloaded';
  if (/prompt is too long|context (?:window|length|limit)/i.test(whole)) return 'context_too_long';
  if (status === 413) return 'context_too_long';
  if (/usage policy|refus|\/legal\/aup/i.test(whole)) return 'refusal';
  if (
    status === 400 &&
    /\bmessages\.\d+|tool_use|tool_result|tool use concurrency|thinking|surrogate/.test(whole)
  ) {
    return 'history_rejected';
  }
  // No status: the connection broke, or the stream ended in an error.
  if (status === undefined && /server_error|unknown/.test(error)) return 'broken_stream';
  return 'unknown';
}

/** A limit of a subscription names its end in seconds since 1970, behind a bar. */
function readResetAt(text: string): string | undefined {
  const seconds = /\|(\d{10})\b/.exec(text)?.[1];
  return seconds === undefined ? undefined : new Date(Number(seconds) * 1000).toISOString();
}
