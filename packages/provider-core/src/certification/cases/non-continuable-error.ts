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
    await checkStranger(subject.continue(stranger, 'Are you there?'));
  });
  assert.deepEqual(await subject.nativeSessions(), sessions, 'sessions of the provider');

  await subject.lose(handle, 'all_processes');
  await subject.removeNativeHistory(handle);
  await withoutRequests(subject, () =>
    expectError(subject.continue(handle, 'Are you there?'), 'native_history_missing'),
  );
  assert.deepEqual(await subject.nativeSessions(), [], 'sessions made in place of the lost one');
}

/** A layer that was made for one provider finds another one stale; a layer that takes any has no such provider. */
async function checkStranger(turn: Promise<unknown>): Promise<void> {
  await assert.rejects(turn, (error: unknown) => {
    const facts: Readonly<Record<string, unknown>> = error instanceof Error ? { ...error } : {};
    const said = [facts['kind'], facts['missing'] ?? facts['changedField']];
    const expected = [
      ['non_continuable', 'provider'],
      ['stale_handle', 'provider'],
    ];
    assert.ok(
      expected.some((pair) => pair.join() === said.join()),
      `the error was: ${String(error)}`,
    );
    return true;
  });
}
