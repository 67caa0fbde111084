import assert from 'node:assert/strict';
import { checkConversation, expectError } from '../conversation.js';
import type { CertificationSubject } from '../subject.js';

/** CertPersonsDraftKept: a draft a person left makes the session busy; it is neither sent nor cleared. */
export async function personsDraftKept(subject: CertificationSubject): Promise<void> {
  const first = 'Remember the codeword heron.';
  const { handle } = await subject.start(first);
  await subject.leaveDraft(handle, 'half a thought');
  await subject.waitUntil('the draft on the screen', async () =>
    (await subject.screen(handle)).includes('half a thought'),
  );

  await expectError(subject.continue(handle, 'What is the codeword?'), 'session_busy', {
    owner: { kind: 'person' },
  });
  assert.match(await subject.screen(handle), /half a thought/);
  assert.deepEqual(await subject.recordedMessages(handle), [first]);

  await subject.lose(handle, 'pane');
  const turn = await subject.continue(handle, 'What is the codeword then?');
  await checkConversation(subject, turn.handle, [first, 'What is the codeword then?']);
}
