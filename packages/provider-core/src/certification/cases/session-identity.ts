import assert from 'node:assert/strict';
import { type CertificationSubject, lossDepthsOf } from '../subject.js';

/** CertSessionIdentity: the id in the handle, in the provider's record and at the model is one, after every resume. */
export async function sessionIdentity(subject: CertificationSubject): Promise<void> {
  let { handle } = await subject.start('Remember the codeword heron.');
  const nativeSessionId = subject.nativeSessionId(handle);

  for (const depth of [undefined, ...lossDepthsOf(subject.claims)]) {
    if (depth) await subject.lose(handle, depth);
    ({ handle } = await subject.continue(handle, `Who are you after ${depth ?? 'nothing'}?`));
    assert.equal(subject.nativeSessionId(handle), nativeSessionId, `the id after ${depth}`);
    assert.deepEqual(await subject.nativeSessions(), [nativeSessionId], `sessions after ${depth}`);
    assert.equal(await subject.inspect(handle), 'present');
  }
  const told = subject.modelRequests().flatMap((request) => request.nativeSessionId ?? []);
  assert.deepEqual(
    [...new Set(told)].filter((id) => id !== nativeSessionId),
    [],
  );
}
