import assert from 'node:assert/strict';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject } from '../subject.js';

/**
 * CertServiceDeathMidTurn: where the CLI dies with its service, the same turn id brings the session back and finishes
 * the turn; the message stands once.
 */
export async function serviceDeathMidTurn(subject: CertificationSubject): Promise<void> {
  const first = 'Remember the codeword heron.';
  const turnId = crypto.randomUUID();
  const { handle } = await subject.start(first);
  const message = scripted('Take your time.', { text: 'done in the end', hang: true, times: 1 });
  const running = subject.begin(handle, message, { turnId });
  const died = running.finished.catch((error: unknown) => error);
  await subject.waitUntil('the turn at the model', () => subject.modelRequests().length === 2);
  await running.kill();
  await died;

  const turn = await subject.continue(handle, message, { turnId, onInterrupted: 'resume' });
  assert.notEqual(turn.answer, '');
  const recorded = await subject.recordedMessages(turn.handle);
  assert.equal(recorded.filter((text) => text === message).length, 1, 'times it was sent');
  const last = await subject.continue(turn.handle, 'What is the codeword?');
  assert.match(last.answer, /heron/);
}
