import assert from 'node:assert/strict';
import { checkConversation } from '../conversation.js';
import type { CertificationSubject } from '../subject.js';

const first = 'Remember the codeword heron.';
/** Twice each: the process that a move started must not stand in the way of the next turn. */
const moves = ['structured', 'structured', 'tmux', 'tmux', 'structured'] as const;

/** CertTransportMove: one session moves between a pane and the protocol; one native id, nothing sent twice. */
export async function transportMove(subject: CertificationSubject): Promise<void> {
  const messages = [first];
  let { handle } = await subject.start(first, { transport: 'tmux', tmuxOnPath: true });
  const nativeSessionId = subject.nativeSessionId(handle);

  for (const [move, transport] of moves.entries()) {
    const message = `What is the codeword? (move ${move} is to ${transport})`;
    messages.push(message);
    const turn = await subject.continue(handle, message, { transport, tmuxOnPath: true });
    assert.match(turn.answer, /heron/, `the answer through ${transport}`);
    assert.equal(subject.providerFields(turn.handle)['transport'], transport);
    assert.equal(subject.nativeSessionId(turn.handle), nativeSessionId);
    await checkConversation(subject, turn.handle, messages);
    handle = turn.handle;
  }
  assert.deepEqual(await subject.nativeSessions(), [nativeSessionId], 'sessions of the provider');
}
