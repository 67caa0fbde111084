import assert from 'node:assert/strict';
import { expectError } from '../conversation.js';
import { scripted } from '../scripted-model/scripted-step.js';
import { readUserMessages } from '../scripted-model/user-messages.js';
import type { CertificationSubject } from '../subject.js';

/** CertTurnParking: a turn the provider failed is parked; its id goes on with the nudge, never with the message. */
export async function turnParking(subject: CertificationSubject): Promise<void> {
  const turnId = crypto.randomUUID();
  const { handle } = await subject.start('Remember the codeword heron.', {
    config: subject.withoutRetries,
  });
  const message = scripted('What is the codeword?', {
    status: 429,
    errorType: 'rate_limit_error',
    errorMessage: 'slow down',
    times: 1,
  });
  await expectError(subject.continue(handle, message, { turnId }), 'rate_limited');

  const turn = await subject.continue(handle, message, { turnId });
  assert.equal(turn.turnId, turnId);
  const seen = subject.modelRequests().at(-1);
  assert.ok(seen);
  const messages = readUserMessages(seen);
  assert.equal(messages.filter((text) => text === message).length, 1, 'times the message stands');
  assert.deepEqual(messages.at(-1), 'Continue.', 'the last user message');
  assert.equal(
    (await subject.recordedMessages(handle)).filter((text) => text === message).length,
    1,
    'times the record holds the message',
  );
}
