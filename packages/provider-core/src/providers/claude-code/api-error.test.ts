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
});
