import assert from 'node:assert/strict';
import { expectError, withoutRequests } from '../conversation.js';
import type { CertificationSubject } from '../subject.js';

/** CertStableWorkingDir: another working directory is a stale handle, and the right one still continues. */
export async function stableWorkingDir(subject: CertificationSubject): Promise<void> {
  const { handle } = await subject.start('Remember the codeword heron.');
  const workingDir = await subject.createFolder();
  const sessions = await subject.nativeSessions();

  await withoutRequests(subject, async () => {
    await expectError(
      subject.continue(handle, 'Where are we?', { config: { workingDir } }),
      'stale_handle',
      { changedField: 'working_dir' },
    );
    await expectError(
      subject.continue(subject.withProviderFields(handle, { working_dir: workingDir }), 'And now?'),
      'stale_handle',
      { changedField: 'working_dir' },
    );
  });
  assert.deepEqual(await subject.nativeSessions(), sessions, 'sessions of the provider');

  await subject.lose(handle, subject.claims.way === 'tmux' ? 'pane' : 'all_processes');
  const turn = await subject.continue(handle, 'What is the codeword?');
  assert.match(turn.answer, /heron/);
}
