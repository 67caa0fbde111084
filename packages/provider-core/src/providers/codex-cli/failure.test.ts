import { describe, expect, it } from 'vitest';
import { classifyFailure } from './failure.js';

describe('a refused request', () => {
  it('B28: is history_rejected where the endpoint cannot read what another one has encrypted', () => {
    const message =
      '{"error":{"type":"invalid_request_error","code":"invalid_encrypted_content","message":"The encrypted content gAAA could not be verified."}}';
    expect(classifyFailure({ message, info: { name: 'other' } })).toBe('history_rejected');
  });

  it.each([
    ['{"error":{"code":"context_length_exceeded"}}', 'context_too_long'],
    ['{"error":{"code":"model_not_found"}}', 'model_not_found'],
    [
      '{"error":{"message":"No tool output found for function call c1.","code":null}}',
      'history_rejected',
    ],
    ['stream disconnected before completion: gone', 'broken_stream'],
  ])('is told by the code or the words of its body: %s', (message, reason) => {
    expect(classifyFailure({ message, info: { name: 'other' } })).toBe(reason);
  });

  it('B110: is unknown in words nobody knows', () => {
    const message = '{"error":{"type":"allowance_exhausted","message":"Come back later."}}';
    expect(classifyFailure({ message, info: { name: 'other' } })).toBe('unknown');
  });
});
