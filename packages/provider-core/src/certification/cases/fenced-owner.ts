import assert from 'node:assert/strict';
import { checkConversation } from '../conversation.js';
import type { CertificationSubject } from '../subject.js';

/** CertFencedOwner: an owner that was frozen, lost its lease and thaws puts nothing into the session. */
export async function fencedOwner(subject: CertificationSubject): Promise<void> {
  const messages = ['Remember the codeword heron.'];
  const { handle } = await subject.start('Remember the codeword heron.');

  const frozen = subject.begin(handle, 'This one came too late.', {
    freezeAt: 'before_submitting',
  });
  const outcome = frozen.finished.then(
    () => 'completed',
    (error: { readonly kind?: string }) => error.kind ?? String(error),
  );
  await frozen.frozen();
  await subject.orphanLease(handle);
  const taken = await subject.continue(handle, 'I took over. What is the codeword?');
  messages.push('I took over. What is the codeword?');

  frozen.thaw();
  assert.notEqual(await outcome, 'completed', 'the turn of the fenced owner');
  await checkConversation(subject, taken.handle, messages);
  const last = await subject.continue(taken.handle, 'And who is here at last?');
  await checkConversation(subject, last.handle, [...messages, 'And who is here at last?']);
}
