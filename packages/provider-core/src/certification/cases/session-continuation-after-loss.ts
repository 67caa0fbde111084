import assert from 'node:assert/strict';
import { type CertificationSubject, lossDepthsOf } from '../subject.js';

/**
 * CertSessionContinuationAfterTmuxLoss, and CertSessionContinuationAfterProcessLoss where there is no terminal: whatever
 * dies, the handle alone brings the session back, and it remembers.
 */
export async function sessionContinuationAfterLoss(subject: CertificationSubject): Promise<void> {
  let { handle } = await subject.start('Remember the codeword heron.');
  const nativeSessionId = subject.nativeSessionId(handle);

  for (const depth of lossDepthsOf(subject.claims)) {
    await subject.restartModel();
    await subject.lose(handle, depth);
    const turn = await subject.continue(handle, `What is the codeword? (after ${depth})`);

    assert.match(turn.answer, /heron/, `the answer after the loss of ${depth}`);
    if (subject.claims.way !== 'per_turn') {
      assert.equal(turn.recovered, true, `recovered after the loss of ${depth}`);
    }
    assert.equal(subject.nativeSessionId(turn.handle), nativeSessionId);
    handle = turn.handle;
  }
  assert.deepEqual(await subject.nativeSessions(), [nativeSessionId], 'sessions of the provider');
}
