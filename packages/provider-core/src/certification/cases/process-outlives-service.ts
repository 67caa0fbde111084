import assert from 'node:assert/strict';
import { checkConversation } from '../conversation.js';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject } from '../subject.js';

/** CertProcessOutlivesService: the service dies in mid-turn, the turn goes on, and its id finds the answer. */
export async function processOutlivesService(subject: CertificationSubject): Promise<void> {
  const first = 'Remember the codeword heron.';
  const turnId = crypto.randomUUID();
  const { handle } = await subject.start(first);
  const slow = scripted('Take your time.', { text: 'done in the end' });

  const release = subject.holdModel();
  const killed = subject.begin(handle, slow, { turnId });
  const died = assert.rejects(killed.finished);
  await subject.waitUntil('the turn at the model', () => subject.modelRequests().length === 2);
  await killed.kill();
  await died;
  release();

  const turn = await subject.continue(handle, slow, { turnId });
  assert.equal(turn.answer, 'done in the end');
  assert.equal(turn.recovered, false, 'nothing had to be brought back');
  assert.equal(subject.modelRequests().length, 2, 'requests of two turns');
  await checkConversation(subject, turn.handle, [first, slow]);
}
