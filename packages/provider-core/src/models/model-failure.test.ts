import { describe, expect, it } from 'vitest';
import { toTurnError } from './model-failure.js';
import { readVendorError } from './vendor-error.wire.js';

function read(status: number | undefined, body: unknown) {
  const failure = { status, headers: {}, error: readVendorError(body), detail: 'said' };
  const error = toTurnError(failure, 0);
  return 'reason' in error ? `${error.kind}: ${error.reason}` : error.kind;
}

const google = (status: string, message: string, details: readonly object[] = []) => ({
  error: { code: 400, status, message, details },
});

describe('the failure of a model API', () => {
  it.each([
    [401, { error: { type: 'authentication_error', message: 'invalid x-api-key' } }],
    [403, { error: { type: 'permission_error' } }],
    [400, google('INVALID_ARGUMENT', 'API key not valid.', [{ reason: 'API_KEY_INVALID' }])],
    [403, google('PERMISSION_DENIED', 'Method blocked')],
    [undefined, { type: 'authentication_error', message: 'revoked' }],
  ])('with %s %j wants a sign-in', (status, body) => {
    expect(read(status, body)).toBe('auth_required');
  });

  it.each([
    [429, '<html>Too many</html>'],
    [429, { error: { type: 'insufficient_quota', code: 'insufficient_quota' } }],
    [undefined, { type: 'rate_limit_error' }],
    [undefined, { response: { error: { code: 'rate_limit_exceeded', message: 'slow' } } }],
    [400, google('RESOURCE_EXHAUSTED', 'quota')],
  ])('with %s %j is a limit', (status, body) => {
    expect(read(status, body)).toBe('rate_limited');
  });

  it.each([
    [529, { error: { type: 'overloaded_error' } }, 'overloaded'],
    [503, 'no JSON', 'overloaded'],
    [undefined, { type: 'overloaded_error', message: 'Overloaded' }, 'overloaded'],
    [413, { error: { type: 'request_too_large' } }, 'context_too_long'],
    [400, { error: { code: 'context_length_exceeded' } }, 'context_too_long'],
    [
      400,
      { error: { type: 'invalid_request_error', message: 'prompt is too long: 2 tokens > 1' } },
      'context_too_long',
    ],
    [404, { error: { type: 'not_found_error', message: 'model: nothing' } }, 'model_not_found'],
    [400, { error: { code: 'model_not_found' } }, 'model_not_found'],
    [400, { error: { code: 'content_policy_violation' } }, 'refusal'],
    [404, '<html>Not found</html>', 'unknown'],
    [500, { error: { type: 'api_error', message: 'prompt is too long' } }, 'unknown'],
    [400, { error: { message: 'tools.0.input_schema: not valid', param: 'tools' } }, 'unknown'],
    [418, {}, 'unknown'],
    [undefined, null, 'unknown'],
  ])('with %s %j is told by its reason %s', (status, body, reason) => {
    expect(read(status, body)).toBe(`provider_failed: ${reason}`);
  });

  it.each([
    [{ error: { message: 'messages.3.content.0: unexpected `tool_use_id`' } }],
    [{ error: { message: 'messages: text content blocks must be non-empty' } }],
    [{ error: { message: 'Invalid value', param: 'input[4].content' } }],
    [{ error: { message: 'Invalid value', param: 'messages.[2].role' } }],
    [{ error: { message: 'The encrypted_content could not be verified.' } }],
    [{ error: { message: 'no low surrogate in string: line 1 column 9' } }],
    [google('INVALID_ARGUMENT', 'Function call is missing a thought_signature')],
  ])('with a 400 about the conversation %j rejects the history', (body) => {
    expect(read(400, body)).toBe('history_rejected');
  });
});
