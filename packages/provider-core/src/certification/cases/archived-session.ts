import assert from 'node:assert/strict';
import { expectError, withoutRequests } from '../conversation.js';
import type { CertificationSubject } from '../subject.js';

/** CertArchive: an archived session is put away at the provider too, and no message reaches it any more. */
export async function archivedSession(subject: CertificationSubject): Promise<void> {
  const { handle } = await subject.start('Remember the codeword heron.');
  const { archived } = await subject.close(handle, { archive: true });
  assert.equal(archived, true, 'what the close said');
  await withoutRequests(subject, () =>
    expectError(subject.continue(handle, 'Are you there?'), 'non_continuable', {
      missing: 'history',
    }),
  );
}
