import assert from 'node:assert/strict';
import { checkConversation } from '../conversation.js';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject } from '../subject.js';

/** CertLeaseAcrossProcesses: of two processes one runs its turn; the other hears who owns the session, or waits. */
export async function leaseAcrossProcesses(subject: CertificationSubject): Promise<void> {
  const first = 'Remember the codeword heron.';
  const { handle } = await subject.start(first);
  const slow = scripted('Take your time.', { text: 'done', delayMs: 5_000 });
  const owner = subject.begin(handle, slow);
  await subject.waitUntil('the slow turn at the model', () => subject.modelRequests().length === 2);

  const patient = subject.continue(handle, 'Let me in when you are free.', { whenBusy: 'wait' });
  await checkBusy(subject.continue(handle, 'Let me in at once.'), owner.pid);

  assert.equal((await owner.finished).answer, 'done');
  const waited = await patient;
  await checkConversation(subject, waited.handle, [first, slow, 'Let me in when you are free.']);
}

async function checkBusy(turn: Promise<unknown>, pid: number): Promise<void> {
  await assert.rejects(turn, (error: unknown) => {
    const facts = JSON.parse(JSON.stringify(error instanceof Error ? { ...error } : {}));
    assert.equal(facts.kind, 'session_busy', String(error));
    assert.equal(facts.owner?.kind, 'ours');
    assert.equal(facts.owner?.pid, pid, 'the owner that is named');
    return true;
  });
}
