import type { RecordEvent } from '../../spec/record-event.js';
import { readErrorBody } from './failure.wire.js';

type FailedTurn = Extract<RecordEvent, { type: 'turn_failed' }>;

/** What Codex says of a failed turn, in its protocol or in its rollout. */
export interface CodexFailure {
  readonly message: string;
  /** `contextWindowExceeded`, or a variant with an `httpStatusCode`; snake_case in a rollout. */
  readonly info: { readonly name?: string | undefined; readonly httpStatus?: number | undefined };
}

/** Maps Codex's own word for a failure to ours. */
export function classifyFailure({ message, info }: CodexFailure): FailedTurn['reason'] {
  const byStatus = info.httpStatus === undefined ? undefined : STATUS_REASONS[info.httpStatus];
  const byName = NAMED_REASONS[toSnakeCase(info.name ?? 'other')];
  if (byStatus) return byStatus;
  // Codex calls both a broken connection: what was cut off by a filter, and a status that it does not know.
  if (/reason: content_filter/.test(message)) return 'refusal';
  if (/^unexpected status 4\d\d/.test(message)) return readBody(message) ?? 'unknown';
  return byName ?? readBody(message) ?? 'unknown';
}

/** A request that the vendor refuses comes with the info `other` and the body of its answer as the message. */
function readBody(message: string): FailedTurn['reason'] | undefined {
  const body = readErrorBody(message);
  const byCode = VENDOR_CODES[body?.code ?? ''];
  if (byCode) return byCode;
  // It names what it refuses: something of what the conversation holds.
  if (body?.param?.startsWith('input')) return 'history_rejected';
  return PHRASES.find(({ says }) => says.test(message))?.reason;
}

const VENDOR_CODES: Readonly<Record<string, FailedTurn['reason']>> = {
  context_length_exceeded: 'context_too_long',
  model_not_found: 'model_not_found',
  // What one endpoint has encrypted, another one cannot read.
  invalid_encrypted_content: 'history_rejected',
  item_not_found: 'history_rejected',
  previous_response_not_found: 'history_rejected',
};

/** For what has no code. */
const PHRASES: readonly { readonly says: RegExp; readonly reason: FailedTurn['reason'] }[] = [
  { says: /No tool output found for function call/i, reason: 'history_rejected' },
  // A stream that breaks on each try.
  { says: /stream (disconnected|closed)|connection (failed|reset)/i, reason: 'broken_stream' },
];

const STATUS_REASONS: Readonly<Record<number, FailedTurn['reason']>> = {
  401: 'auth_required',
  403: 'auth_required',
  429: 'rate_limited',
  503: 'overloaded',
  529: 'overloaded',
};

const NAMED_REASONS: Readonly<Record<string, FailedTurn['reason']>> = {
  context_window_exceeded: 'context_too_long',
  usage_limit_exceeded: 'rate_limited',
  rate_limit_exceeded: 'rate_limited',
  session_budget_exceeded: 'rate_limited',
  server_overloaded: 'overloaded',
  internal_server_error: 'overloaded',
  flex_unavailable: 'overloaded',
  policy_capacity_unavailable: 'overloaded',
  model_not_found: 'model_not_found',
  unauthorized: 'auth_required',
  cyber_policy: 'refusal',
  invalid_prompt: 'refusal',
  bio_policy: 'refusal',
  misalignment_policy_violation: 'refusal',
  http_connection_failed: 'broken_stream',
  response_stream_connection_failed: 'broken_stream',
  response_stream_disconnected: 'broken_stream',
};

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
