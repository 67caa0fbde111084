import assert from 'node:assert/strict';
import { expectError, withoutRequests } from '../conversation.js';
import type { CertificationSubject } from '../subject.js';

/** CertNonContinuableError: what cannot be continued says what is missing, and never becomes a fresh session. */
export async function nonContinuableError(subject: CertificationSubject): Promise<void> {
  const { handle } = await subject.start('Remember the codeword heron.');
  const sessions = await subject.nativeSessions();
  const without = subject.withProviderFields(handle, { native_session_id: undefined });
  const stranger = subject.withProviderFields(handle, { provider: 'no-such-provider' });

  await withoutRequests(subject, async () => {
    await expectError(subject.continue(without, 'Are you there?'), 'non_continuable', {
      missing: 'native_session_id',
    });
    await expectError(subject.continue(stranger, 'Are you there?'), 'non_continuable', {
      missing: 'provider',
    });
  });
  assert.deepEqual(await subject.nativeSessions(), sessions, 'sessions of the provider');

  await subject.lose(handle, 'all_processes');
  await subject.removeNativeHistory(handle);
  await withoutRequests(subject, () =>
    expectError(subject.continue(handle, 'Are you there?'), 'native_history_missing'),
  );
  assert.deepEqual(await subject.nativeSessions(), [], 'sessions made in place of the lost one');
}
