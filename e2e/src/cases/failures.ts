import assert from 'node:assert/strict';
import {
  expectError,
  type HandleJson,
  type ScriptedStep,
  scripted,
} from '@holdfast/provider-core/certification';
import { type CliInWay, createSubject, hello, type KnownCase, question } from './known-case.js';

/** What the provider says when it will not answer. */
export const failureCases: readonly KnownCase[] = [
  {
    name: 'B36: a history that the provider rejects for half a surrogate pair is history_rejected',
    providers: ['claude-code'],
    run: (cli) =>
      failsOnce(cli, 'history_rejected', {
        status: 400,
        errorType: 'invalid_request_error',
        errorMessage:
          'The request body is not valid JSON: no low surrogate in string: line 1 column 155 (char 154)',
      }),
  },
  {
    name: 'B28: encrypted items that another endpoint rejects are history_rejected',
    providers: ['codex-cli'],
    run: (cli) =>
      failsOnce(cli, 'history_rejected', {
        status: 400,
        errorType: 'invalid_request_error',
        errorMessage:
          'The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed.',
        errorDetail: { code: 'invalid_encrypted_content' },
      }),
  },
  {
    name: 'B108: a limit is rate_limited and never an answer',
    run: (cli) =>
      failsOnce(cli, 'rate_limited', {
        status: 429,
        errorType: 'rate_limit_error',
        errorMessage: "You've reached your usage limit.",
      }),
  },
  {
    name: 'B108: an empty answer is no answer',
    run: answersNothing,
  },
  {
    name: 'B110: a refusal in words nobody knows is unknown, and is not tried again',
    run: (cli) =>
      failsOnce(cli, 'provider_failed', {
        status: 400,
        errorType: 'allowance_exhausted_error',
        errorMessage: 'Come back when the tide is out.',
      }),
  },
  {
    name: 'B112: a sign-in that is not accepted is auth_required, and nothing is typed there',
    run: (cli) =>
      failsOnce(cli, 'auth_required', {
        status: 401,
        errorType: 'authentication_error',
        errorMessage: 'OAuth token has expired.',
      }),
  },
];

/** The turn fails as it should with its message at the model once, and the session is not lost by it. */
async function failsOnce(cli: CliInWay, kind: string, step: ScriptedStep): Promise<void> {
  await using subject = await createSubject(cli);
  const { handle } = await subject.start(hello, { config: subject.withoutRetries });
  const failing = scripted('Fail.', { ...step, times: 20 });
  const facts: HandleJson = kind === 'provider_failed' ? { reason: 'unknown' } : {};
  await expectError(subject.continue(handle, failing), kind, facts);
  assert.deepEqual(await subject.recordedMessages(handle), [hello, failing]);
  const turn = await subject.continue(handle, question);
  assert.match(turn.answer, /heron/);
  const recorded = await subject.recordedMessages(turn.handle);
  assert.deepEqual(recorded, [hello, failing, question], 'nothing was sent by itself');
}

async function answersNothing(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const { handle } = await subject.start(hello, { config: subject.withoutRetries });
  const empty = scripted('Say nothing.', { text: '' });
  const before = subject.modelRequests().length;
  const outcome = await subject.continue(handle, empty).catch((error: unknown) => error);
  if (outcome instanceof Error && 'kind' in outcome) return;
  // Where the CLI itself asks for more, what it gets then is the answer.
  assert.ok(subject.modelRequests().length > before + 1, 'an empty text was the answer');
  assert.doesNotMatch(JSON.stringify(outcome), /"answer":"\s*"/);
}
