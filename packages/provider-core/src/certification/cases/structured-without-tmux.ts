import assert from 'node:assert/strict';
import { checkConversation } from '../conversation.js';
import type { CertificationSubject } from '../subject.js';

const first = 'Remember the codeword heron.';
const last = 'What is the codeword?';

/** CertStructuredWithoutTmux: where tmux is not installed, `auto` works all the same, and nothing is started in a pane. */
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
}
