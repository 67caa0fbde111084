import { describe, expect, it } from 'vitest';
import { readApiError } from './api-error.js';

describe('readApiError', () => {
  it('B36: takes a body that the vendor cannot read for its half characters for a rejected history', () => {
    const text =
      'API Error: 400 The request body is not valid JSON: no low surrogate in string: line 1 column 155';
    expect(readApiError({ error: 'invalid_request', text, status: 400 }).reason).toBe(
      'history_rejected',
    );
  });

  it('B108: takes a limit for a limit, whatever its text, and keeps the time of its end', () => {
    const text = 'Claude AI usage limit reached|1790000000';
    expect(readApiError({ error: 'rate_limit', text })).toEqual({
      reason: 'rate_limited',
      detail: text,
      resetAt: '2026-09-21T14:13:20.000Z',
    });
  });

  it('B110: takes a refusal in words nobody knows for unknown', () => {
    const text = 'API Error: 400 Come back when the tide is out.';
    expect(readApiError({ error: 'invalid_request', text, status: 400 }).reason).toBe('unknown');
  });

  it('takes a call without its result for a rejected history, in the words the CLI puts in its place', () => {
    const text = 'API Error: 400 due to tool use concurrency issues. Run /rewind to recover.';
    expect(readApiError({ error: 'invalid_request', text, status: 400 }).reason).toBe(
      'history_rejected',
    );
  });

  it.each([
    ['billing_error', 400, 'Credit balance is too low', 'billing'],
    ['unknown', 402, 'API Error: 402 Payment required', 'billing'],
    ['authentication_failed', 403, 'Please run /login · API Error: 403 no access', 'auth_required'],
    ['server_error', 529, 'API Error: 529 Overloaded.', 'overloaded'],
    ['server_error', 500, 'API Error: 500 boom.', 'unknown'],
    ['server_error', undefined, 'API Error: Unable to connect (ECONNRESET)', 'broken_stream'],
    ['invalid_request', 413, 'Request too large (max 32MB).', 'context_too_long'],
    [
      'unknown',
      undefined,
      "API Error: Sonnet 4.5 can't help with this. Learn more: https://www.anthropic.com/legal/aup",
      'refusal',
    ],
    ['model_not_found', 404, "There's an issue with the selected model", 'model_not_found'],
  ] as const)('takes %s with status %s for what it is', (error, status, text, reason) => {
    expect(readApiError({ error, status, text }).reason).toBe(reason);
  });
});
