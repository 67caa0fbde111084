import assert from 'node:assert/strict';
import { checkConversation, expectError } from '../conversation.js';
import type { CertificationSubject } from '../subject.js';

const first = 'Remember the codeword heron.';
/** What no terminal passes on as it is. */
const forProtocolOnly = 'An escape \u001b[31m and a paste end \u001b[201~ stand in here.';

/** CertAutoTransport: what a pane cannot take exactly goes through the protocol, and the next message through the pane. */
export async function autoTransport(subject: CertificationSubject): Promise<void> {
  const transport = 'auto';
  const started = await subject.start(first, { transport, tmuxOnPath: true });
  assert.equal(subject.providerFields(started.handle)['transport'], 'tmux', 'the first message');
  await expectError(
    subject.continue(started.handle, forProtocolOnly, { transport: 'tmux' }),
    'undeliverable_message',
  );

  const exact = await subject.continue(started.handle, forProtocolOnly, {
    transport,
    tmuxOnPath: true,
  });
  assert.equal(subject.providerFields(exact.handle)['transport'], 'structured');
  await checkConversation(subject, exact.handle, [first, forProtocolOnly]);

  const last = 'What is the codeword?';
  const back = await subject.continue(exact.handle, last, { transport, tmuxOnPath: true });
  assert.match(back.answer, /heron/);
  assert.equal(subject.providerFields(back.handle)['transport'], 'tmux', 'the message after it');
  await checkConversation(subject, back.handle, [first, forProtocolOnly, last]);
}
