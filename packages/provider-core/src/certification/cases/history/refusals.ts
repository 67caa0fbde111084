import assert from 'node:assert/strict';
import { expectError } from '../../conversation.js';
import type { HistorySubject } from '../../history-subject.js';
import { CODEWORD, QUESTION, sendsNothing } from './check-history.js';

/** CertNonApplicable: the layer that keeps no history says at once that it has nothing to start or to continue. */
export async function nonApplicable(subject: HistorySubject): Promise<void> {
  const { handle } = await subject.start(CODEWORD);
  await sendsNothing(subject, async () => {
    await expectError(subject.askBelow(handle, QUESTION), 'non_applicable');
    await expectError(subject.askBelow(undefined, QUESTION), 'non_applicable');
  });
  const { answer } = await subject.continue(handle, QUESTION);
  assert.match(answer, /heron/, 'the session itself is as it was');
}

/** CertNoHistory: without a handle, or with a transcript that is gone or damaged, nothing is sent. */
export async function noHistory(subject: HistorySubject): Promise<void> {
  const { handle } = await subject.start(CODEWORD);
  const { handle: other } = await subject.start(CODEWORD);
  await subject.removeTranscript(handle);
  await subject.damageTranscript(other);
  const gone = { missing: 'history' };
  await sendsNothing(subject, async () => {
    const none = subject.continueWithoutHandle(QUESTION);
    await expectError(none, 'non_continuable', gone);
    await expectError(subject.continue(handle, QUESTION), 'non_continuable', gone);
    const spoken = [{ role: 'user', content: QUESTION }] as const;
    await expectError(subject.converse(handle, spoken), 'non_continuable', gone);
    await expectError(subject.continue(other, QUESTION), 'state_unusable', { reason: 'damaged' });
  });
}

/** CertApiArchive: a session that was put away takes no message any more. */
export async function archivedHistory(subject: HistorySubject): Promise<void> {
  const { handle } = await subject.start(CODEWORD);
  await subject.close(handle);
  const { answer, handle: next } = await subject.continue(handle, QUESTION);
  assert.match(answer, /heron/, 'a closed session is gone on with');
  assert.deepEqual(
    await subject.close(next, { archive: true }).then(({ archived }) => archived),
    true,
  );
  await sendsNothing(subject, () =>
    expectError(subject.continue(next, QUESTION), 'non_continuable', { missing: 'history' }),
  );
}
