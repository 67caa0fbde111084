import { describe, expect, it } from 'vitest';
import { classifyFailure } from './failure.js';
import { readErrorInfo } from './failure.wire.js';
import { createRolloutReader } from './record.js';
import { readResetTime } from './reset-time.js';

const READING = "Item 'rs_1' of type 'reasoning' was provided without its required following item.";

// As Codex 0.171.0 wrote them.
const FAILURES: readonly (readonly [string, unknown, string])[] = [
  [
    'exceeded retry limit',
    { responseTooManyFailedAttempts: { httpStatusCode: 429 } },
    'rate_limited',
  ],
  ['rate limit exceeded: slow down', 'rateLimitExceeded', 'rate_limited'],
  ['Quota exceeded. Check your plan and billing details.', 'usageLimitExceeded', 'rate_limited'],
  ['unexpected status 401', { httpConnectionFailed: { httpStatusCode: 401 } }, 'auth_required'],
  ['unexpected status 529', { httpConnectionFailed: { httpStatusCode: 529 } }, 'overloaded'],
  ['Selected model is at capacity.', 'serverOverloaded', 'overloaded'],
  ['We’re currently experiencing high demand.', 'internalServerError', 'overloaded'],
  ['Codex ran out of room', 'contextWindowExceeded', 'context_too_long'],
  ['The model `x` does not exist', 'modelNotFound', 'model_not_found'],
  ['This request has been flagged', 'cyberPolicy', 'refusal'],
  ['Invalid prompt', 'invalid_prompt', 'refusal'],
  ['stream disconnected: Incomplete response returned, reason: content_filter', 'other', 'refusal'],
  ['stream disconnected before completion: network error', 'other', 'broken_stream'],
  [body({ code: 'invalid_encrypted_content' }), 'other', 'history_rejected'],
  [body({ code: null, param: 'input', message: READING }), 'other', 'history_rejected'],
  [body({ code: null, param: 'input[4].encrypted_content' }), 'other', 'history_rejected'],
  [body({ code: 'unsupported_value', param: 'temperature' }), 'other', 'unknown'],
  ['Incomplete response returned, reason: max_output_tokens', 'other', 'unknown'],
  ['something new', 'somethingNew', 'unknown'],
];

describe('B28, B110: a failure of Codex', () => {
  it.each(FAILURES)('%s (%j) is %s', (message, info, reason) => {
    expect(classifyFailure({ message, info: readErrorInfo(info as string) })).toBe(reason);
  });
});

describe('the end of a limit', () => {
  it('comes from the limits that the provider counts, where one is used up', () => {
    const resets_at = 1_796_000_000;
    const limits = { primary: { used_percent: 100, resets_at }, secondary: null };

    expect(failAfter({ rate_limits: limits })).toMatchObject({
      reason: 'rate_limited',
      resetAt: new Date(resets_at * 1_000).toISOString(),
    });
    const free = { primary: { used_percent: 40, resets_at }, secondary: null };
    expect(failAfter({ rate_limits: free })).not.toHaveProperty('resetAt');
  });

  it('is read from the words else, in local time and to the end of its minute', () => {
    const written = new Date(2026, 10, 29, 17, 30);
    const at = (...parts: readonly [number, number, number, number, number]) =>
      new Date(...parts).toISOString();

    expect(readResetTime('… or try again at 6:30 PM.', written.toISOString())).toBe(
      at(2026, 10, 29, 18, 31),
    );
    expect(readResetTime('try again at Dec 1st, 2026 12:05 AM.', written.toISOString())).toBe(
      at(2026, 11, 1, 0, 6),
    );
    expect(readResetTime('try again later', written.toISOString())).toBeUndefined();
    expect(readResetTime('try again at 6:30 PM.', undefined)).toBeUndefined();
  });
});

describe('what a turn has used', () => {
  it('is its last sum, and the session’s beside it, also of a record that is read from its middle', () => {
    const { usage, sessionUsage } = endAfter([
      sums({ input_tokens: 150, output_tokens: 10 }, { input_tokens: 250, output_tokens: 30 }),
      sums({ input_tokens: 350, output_tokens: 40 }, { input_tokens: 450, output_tokens: 60 }),
    ]);

    expect(usage).toMatchObject({ inputTokens: 350, outputTokens: 40 });
    expect(sessionUsage).toMatchObject({ inputTokens: 450, outputTokens: 60 });
  });

  it('never falls, and a session never has less than its turn', () => {
    const { usage, sessionUsage } = endAfter([
      sums({ input_tokens: 150, output_tokens: 10 }, { input_tokens: 20, output_tokens: 2 }),
      sums({ input_tokens: 50, output_tokens: 10 }, { input_tokens: 300, output_tokens: 20 }),
    ]);

    expect(usage).toMatchObject({ inputTokens: 150 });
    expect(sessionUsage).toBeUndefined();
  });
});

function body(error: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ error: { type: 'invalid_request_error', ...error } });
}

function sums(turn_token_usage: unknown, thread_token_usage: unknown): unknown {
  const payload = { turn_id: 'turn', turn_token_usage, thread_token_usage };
  return { type: 'token_usage_record', payload };
}

function endAfter(lines: readonly unknown[]) {
  const reader = createRolloutReader();
  for (const line of lines) reader.read(line);
  const payload = { type: 'task_complete', turn_id: 'turn', last_agent_message: 'done' };
  const [end] = reader.read({ type: 'event_msg', payload });
  if (end?.type !== 'turn_ended') throw new Error('no end');
  return end;
}

function failAfter(counts: Readonly<Record<string, unknown>>): unknown {
  const reader = createRolloutReader();
  reader.read({ type: 'event_msg', payload: { type: 'token_count', ...counts } });
  const error = { message: 'no more', codex_error_info: 'usage_limit_exceeded' };
  const payload = { type: 'task_complete', turn_id: 'turn', last_agent_message: null, error };
  return reader.read({ type: 'event_msg', payload })[0];
}
