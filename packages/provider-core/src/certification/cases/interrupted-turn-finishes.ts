import assert from 'node:assert/strict';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject } from '../subject.js';

/** CertInterruptedTurnFinishes: after a crash in mid-turn the provider finishes that turn itself, without a nudge. */
export async function interruptedTurnFinishes(subject: CertificationSubject): Promise<void> {
  const first = 'Remember the codeword heron.';
  const turnId = crypto.randomUUID();
  const { handle } = await subject.start(first);
  const cutOff = scripted('Think it over.', { hang: true, times: 1, text: 'finished by itself' });

  const running = subject.begin(handle, cutOff, { turnId });
  const died = running.finished.catch((error: unknown) => error);
  await subject.waitUntil('the message in the record', async () =>
    (await subject.recordedMessages(handle)).includes(cutOff),
  );
  await running.kill();
  await died;
  await subject.lose(handle, 'all_processes');

  const asked = subject.modelRequests().length;
  const turn = await subject.continue(handle, cutOff, { turnId, onInterrupted: 'resume' });
  assert.notEqual(turn.answer, '');
  assert.equal(subject.modelRequests().length, asked + 1, 'requests that finished the turn');
  assert.deepEqual(await subject.recordedMessages(handle), [first, cutOff]);
}
