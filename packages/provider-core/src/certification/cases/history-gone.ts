import assert from 'node:assert/strict';
import { expectError, withoutRequests } from '../conversation.js';
import type { CertificationSubject } from '../subject.js';

/** CertHistoryGone: a history that the CLI deleted by itself, being old, is told apart from one that is lost, and warned of. */
export async function historyGone(subject: CertificationSubject): Promise<void> {
  const { handle } = await subject.start('Remember the codeword heron.');
  await subject.ageSession(handle, 25);
  const warned = await subject.continue(handle, 'How long will you remember?');
  assert.ok(
    warned.events.some((event) => event.type === 'notice' && /deletes/.test(event.text)),
    'the warning before it is deleted',
  );

  await subject.lose(handle, 'all_processes');
  await subject.removeNativeHistory(handle);
  await subject.ageSession(handle, 40);
  await withoutRequests(subject, () =>
    expectError(subject.continue(handle, 'Are you there?'), 'native_history_missing', {
      reason: 'expired',
    }),
  );
  assert.deepEqual(await subject.nativeSessions(), [], 'sessions made in place of the old one');
}
