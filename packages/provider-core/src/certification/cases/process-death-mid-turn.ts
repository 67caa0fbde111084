import assert from 'node:assert/strict';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject } from '../subject.js';

/**
 * CertProcessDeathMidTurn: the CLI dies after it took a message; the turn is settled in time, and its id finishes it
 * without sending it again.
 */
export async function processDeathMidTurn(subject: CertificationSubject): Promise<void> {
  const first = 'Remember the codeword heron.';
  const turnId = crypto.randomUUID();
  const { handle } = await subject.start(first);
  const message = scripted('Think it over.', { hang: true, times: 1, text: 'thought over' });
  const running = subject.begin(handle, message, { turnId });
  const outcome = running.finished.then(
    () => 'completed',
    (error: { readonly kind?: string }) => error.kind ?? String(error),
  );
  await subject.waitUntil('the message in the record', async () =>
    (await subject.recordedMessages(handle)).includes(message),
  );
  await subject.lose(handle, 'all_processes');
  const settled = await outcome;
  assert.ok(
    ['completed', 'turn_interrupted'].includes(settled),
    `the turn was settled: ${settled}`,
  );

  const countSent = async () => {
    const recorded = await subject.recordedMessages(handle);
    return recorded.filter((text) => text === message).length;
  };
  let isOver = false;
  const retry = subject.continue(handle, message, { turnId, onInterrupted: 'resume' });
  retry.catch(() => {}).finally(() => (isOver = true));
  // A second message hangs as the first did: there is no need to wait for its turn. A slow turn is waited for below.
  const isKnown = async () => isOver || (await countSent()) > 1;
  await subject.waitUntil('the turn, or a second message', isKnown).catch(() => {});
  assert.equal(await countSent(), 1, 'times it was sent');
  const turn = await retry;
  assert.notEqual(turn.answer, '');
  assert.equal(await countSent(), 1, 'times it was sent');
  const last = await subject.continue(turn.handle, 'What is the codeword?');
  assert.match(last.answer, /heron/);
}
