import assert from 'node:assert/strict';
import { expectError, withoutRequests } from '../conversation.js';
import type { CertificationSubject } from '../subject.js';

/** CertTurnReplay: a turn id gives its outcome again and sends nothing, also for the turn that started the session. */
export async function turnReplay(subject: CertificationSubject): Promise<void> {
  const startId = crypto.randomUUID();
  const turnId = crypto.randomUUID();
  const message = 'Remember the codeword heron.';
  const started = await subject.start(message, { turnId: startId });
  const turn = await subject.continue(started.handle, 'What is the codeword?', { turnId });
  const sessions = await subject.nativeSessions();

  await withoutRequests(subject, async () => {
    const startedAgain = await subject.start(message, { turnId: startId });
    assert.equal(startedAgain.answer, started.answer);
    assert.equal(
      subject.nativeSessionId(startedAgain.handle),
      subject.nativeSessionId(started.handle),
    );
    const again = await subject.continue(started.handle, 'What is the codeword?', { turnId });
    assert.equal(again.answer, turn.answer);
    await expectError(
      subject.continue(started.handle, 'Another message.', { turnId }),
      'turn_conflict',
    );
  });
  assert.deepEqual(await subject.nativeSessions(), sessions, 'sessions of the provider');
}
