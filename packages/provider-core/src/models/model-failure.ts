import {
  AuthRequiredError,
  type CodingAgentTurnError,
  HistoryRejectedError,
  ProviderFailedError,
  RateLimitedError,
} from '../errors/turn-error.js';
import type { FailureReason } from '../spec/turn.js';
import { type ResponseHeaders, readResetAt } from './reset-time.js';
import type { VendorError } from './vendor-error.wire.js';

/** What is known of a failed request: from its response first, from its words last. */
export interface ModelFailure {
  /** Absent when no response came, or when the stream had begun. */
  readonly status: number | undefined;
  readonly headers: ResponseHeaders;
  readonly error: VendorError;
  /** For people. */
  readonly detail: string;
}

/** The typed error for a failure that the vendor told. */
export function toTurnError(failure: ModelFailure, nowMs: number): CodingAgentTurnError {
  const { detail } = failure;
  if (isLimit(failure)) return new RateLimitedError(detail, readResetAt(failure, nowMs));
  if (isSignIn(failure)) return new AuthRequiredError(detail);
  const reason = findReason(failure);
  if (reason === undefined && isAboutHistory(failure)) return new HistoryRejectedError(detail);
  return new ProviderFailedError(reason ?? 'unknown', detail);
}

const limitWords = [
  'rate_limit_error',
  'rate_limit_exceeded',
  'insufficient_quota',
  'usage_limit_reached',
  'RESOURCE_EXHAUSTED',
];
const signInWords = [
  'authentication_error',
  'permission_error',
  'invalid_api_key',
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'API_KEY_INVALID',
];
const overloadWords = [
  'overloaded_error',
  'server_is_overloaded',
  'slow_down',
  'service_unavailable',
  'UNAVAILABLE',
];
const refusalWords = ['content_filter', 'content_policy_violation', 'cyber_policy_violation'];

function isLimit(failure: ModelFailure): boolean {
  return failure.status === 429 || hasWord(failure, limitWords);
}

function isSignIn(failure: ModelFailure): boolean {
  return failure.status === 401 || failure.status === 403 || hasWord(failure, signInWords);
}

/** The vendor's own codes stand in different fields. */
function hasWord({ error }: ModelFailure, words: readonly string[]): boolean {
  const said = [error.type, error.code, error.status, ...error.details.map(({ reason }) => reason)];
  return said.some((word) => word !== undefined && words.includes(word));
}

function findReason(failure: ModelFailure): FailureReason | undefined {
  const { status, error } = failure;
  const message = error.message ?? '';
  if (status === 529 || status === 503 || hasWord(failure, overloadWords)) return 'overloaded';
  if (hasWord(failure, refusalWords)) return 'refusal';
  if (isTooLong(failure)) return 'context_too_long';
  if (hasWord(failure, ['model_not_found'])) return 'model_not_found';
  // Another 404 is a wrong address, which no other model would cure.
  return status === 404 && /\bmodels?\b/i.test(message) ? 'model_not_found' : undefined;
}

const tooLong =
  /prompt is too long|maximum context length|context (?:window|length)|input token count .*exceeds|too many (?:input )?tokens/i;

function isTooLong(failure: ModelFailure): boolean {
  const { status, error } = failure;
  if (status === 413 || hasWord(failure, ['context_length_exceeded', 'request_too_large'])) {
    return true;
  }
  return (status === 400 || status === 422) && tooLong.test(error.message ?? '');
}

const historyParam = /^(?:messages|input|contents)\b/;
const historyMessage =
  /\b(?:messages|input|contents)[.:[]|tool_use|tool_result|tool_calls|tool output|function call turn|function response|thinking|thought_?signature|encrypted_content|surrogate/i;

function isAboutHistory({ status, error }: ModelFailure): boolean {
  if (status !== 400 && status !== 422) return false;
  return historyParam.test(error.param ?? '') || historyMessage.test(error.message ?? '');
}
