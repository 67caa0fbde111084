import { describe, expect, it } from 'vitest';
import { readResetAt } from './reset-time.js';
import { readVendorError } from './vendor-error.wire.js';

const now = Date.parse('2026-01-01T00:00:00.000Z');

function read(headers: Readonly<Record<string, string>>, body: unknown = {}) {
  return readResetAt({ headers, error: readVendorError(body) }, now);
}

describe('the end of a limit', () => {
  it.each([
    [{ 'retry-after': '90' }, '2026-01-01T00:01:30.000Z'],
    [{ 'retry-after-ms': '1500', 'retry-after': '2' }, '2026-01-01T00:00:01.500Z'],
    [{ 'retry-after': 'Thu, 01 Jan 2026 02:00:00 GMT' }, '2026-01-01T02:00:00.000Z'],
    [
      { 'anthropic-ratelimit-unified-reset': '1767229200', 'retry-after': '2' },
      '2026-01-01T01:00:00.000Z',
    ],
    [
      {
        'anthropic-ratelimit-requests-remaining': '9',
        'anthropic-ratelimit-requests-reset': '2026-01-01T09:00:00Z',
        'anthropic-ratelimit-input-tokens-remaining': '0',
        'anthropic-ratelimit-input-tokens-reset': '2026-01-01T00:00:30Z',
      },
      '2026-01-01T00:00:30.000Z',
    ],
    [
      {
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '1h2m3.5s',
        'x-ratelimit-remaining-tokens': '5',
        'x-ratelimit-reset-tokens': '9h',
      },
      '2026-01-01T01:02:03.500Z',
    ],
    [
      { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '20ms' },
      '2026-01-01T00:00:00.020Z',
    ],
  ])('is read from the headers %j', (headers, expected) => {
    expect(read(headers)).toBe(expected);
  });

  it.each([
    [{ error: { resets_at: 1_767_229_200 } }, '2026-01-01T01:00:00.000Z'],
    [{ error: { resets_in_seconds: 60 } }, '2026-01-01T00:01:00.000Z'],
    [{ error: { details: [{ reason: 'x' }, { retryDelay: '37s' }] } }, '2026-01-01T00:00:37.000Z'],
    [[{ error: { details: [{ retryDelay: '0.5s' }] } }], '2026-01-01T00:00:00.500Z'],
  ])('is read from the body %j', (body, expected) => {
    expect(read({}, body)).toBe(expected);
    expect(read({}, JSON.stringify(body))).toBe(expected);
  });

  it.each([
    {},
    { 'retry-after': 'soon' },
    { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': 'soon' },
    { 'x-ratelimit-remaining-requests': '3', 'x-ratelimit-reset-requests': '1s' },
    { 'anthropic-ratelimit-unified-reset': '99999999999999999' },
  ])('is not invented from %j', (headers) => {
    expect(read(headers)).toBeUndefined();
  });
});
