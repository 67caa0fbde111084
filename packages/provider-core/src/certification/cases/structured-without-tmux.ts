import assert from 'node:assert/strict';
import { checkConversation } from '../conversation.js';
import type { CertificationSubject } from '../subject.js';

const first = 'Remember the codeword heron.';
const last = 'What is the codeword?';

/** CertStructuredWithoutTmux: where tmux is not installed, `auto` works all the same, and a pane is refused typed. */
export async function structuredWithoutTmux(subject: CertificationSubject): Promise<void> {
  const { handle } = await subject.start(first, { transport: 'auto', tmuxOnPath: false });
  await subject.lose(handle, 'all_processes');
  const turn = await subject.continue(handle, last, { transport: 'auto', tmuxOnPath: false });
  assert.match(turn.answer, /heron/);
  await checkConversation(subject, turn.handle, [first, last]);
  assert.deepEqual(
    (await subject.livingProcesses()).filter(({ command }) => command.startsWith('tmux')),
    [],
    'tmux processes',
  );

  // A pane that only shows is missed by nobody: the turn runs all the same.
  if (subject.claims.paneDriver !== 'typed_pane') return;
  const requests = subject.modelRequests().length;
  await assert.rejects(
    subject.continue(turn.handle, 'In a pane?', { transport: 'tmux', tmuxOnPath: false }),
    (error: { readonly kind?: string }) => {
      const kinds = ['cli_unusable', 'non_continuable'];
      assert.ok(kinds.includes(error.kind ?? ''), `the error was: ${String(error)}`);
      return true;
    },
  );
  assert.equal(subject.modelRequests().length, requests, 'requests of a pane without tmux');
}
