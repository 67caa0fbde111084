import assert from 'node:assert/strict';
import { checkConversation } from '../conversation.js';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject, HandleJson } from '../subject.js';

/** CertLeaseAcrossProcesses: of two processes one runs its turn; the other hears who owns the session, or waits. */
export async function leaseAcrossProcesses(subject: CertificationSubject): Promise<void> {
  const first = 'Remember the codeword heron.';
  const { handle } = await subject.start(first);
  const slow = scripted('Take your time.', { text: 'done' });
  const release = subject.holdModel();
  const owner = subject.begin(handle, slow);
  await subject.waitUntil('the slow turn at the model', () => subject.modelRequests().length === 2);

  const patient = subject.continue(handle, 'Let me in when you are free.', { whenBusy: 'wait' });
  await checkBusy(subject.continue(handle, 'Let me in at once.'), owner.pid);
  release();

  assert.equal((await owner.finished).answer, 'done');
  const waited = await patient;
  const messages = [first, slow, 'Let me in when you are free.'];
  await checkConversation(subject, waited.handle, messages);
  await checkRace(subject, waited.handle, messages);
}

/** At the same moment: whoever does not run hears `session_busy`, and what ran stands in the conversation once. */
async function checkRace(
  subject: CertificationSubject,
  handle: HandleJson,
  before: readonly string[],
): Promise<void> {
  const racers = ['Red goes first.', 'Green goes first.', 'Blue goes first.'];
  const turns = await Promise.allSettled(
    racers.map((message) => subject.continue(handle, message)),
  );
  const ran = racers.filter((_, index) => turns[index]?.status === 'fulfilled');
  assert.ok(ran.length > 0, 'no racer ran');
  for (const turn of turns) {
    if (turn.status === 'rejected') assert.equal(turn.reason.kind, 'session_busy', turn.reason);
  }
  const last = await subject.continue(handle, 'Who was it?');
  const recorded = await subject.recordedMessages(last.handle);
  const order = recorded.filter((text) => ran.includes(text));
  assert.deepEqual([...order].sort(), [...ran].sort(), 'the messages of those who ran');
  await checkConversation(subject, last.handle, [...before, ...order, 'Who was it?']);
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
