import assert from 'node:assert/strict';
import { readUserMessages } from '../scripted-model/user-messages.js';
import type { CertificationSubject } from '../subject.js';

const message = 'Only this sentence may be sent, and nothing that a person adds to it.';
const addition = ' PLUS THIS';

/**
 * CertMixedTextBlocked: a person adds to our text and presses Enter before we do; what would be both of us never reaches
 * the model.
 */
export async function mixedTextBlocked(subject: CertificationSubject): Promise<void> {
  const first = 'Remember the codeword heron.';
  const { handle } = await subject.start(first);
  // The service stands still between paste and Enter, so that the person is always first.
  const running = subject.begin(handle, message, { freezeAt: 'pasted' });
  const finished = running.finished.then(
    () => 'completed',
    (error: { readonly kind?: string }) => error.kind ?? String(error),
  );
  await running.frozen();
  await subject.sendOnceShown(handle, 'a person adds to it', addition);
  running.thaw();
  let isOver = false;
  void finished.finally(() => (isOver = true));
  const listSeen = () => subject.modelRequests().flatMap((request) => readUserMessages(request));
  const listMixed = () => listSeen().filter((text) => text.includes(message) && text !== message);
  // A mixed message at the model is all there is to know: nobody waits for its turn. A slow one is waited for below.
  const isKnown = () => isOver || listMixed().length > 0;
  await subject.waitUntil('the turn, or a mixed message', isKnown).catch(() => {});
  assert.deepEqual(listMixed(), [], 'mixed messages at the model');
  const outcome = await finished;
  assert.deepEqual(listMixed(), [], `mixed messages at the model (the turn: ${outcome})`);
  assert.equal(listSeen().includes(message), outcome === 'completed', `the turn: ${outcome}`);
}
