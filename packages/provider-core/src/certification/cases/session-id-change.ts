import assert from 'node:assert/strict';
import { readUserMessages } from '../scripted-model/user-messages.js';
import type { CertificationSubject } from '../subject.js';

/**
 * CertSessionIdChange: where a page would move the session to another id, the turn runs under the id that was asked for
 * or fails typed; no message goes to another session.
 */
export async function sessionIdChange(subject: CertificationSubject): Promise<void> {
  const message = 'Remember the codeword heron.';
  const started = await subject
    .start(message, { config: subject.forcedPage })
    .catch((error: { readonly kind?: string }) => error);
  const sessions = await subject.nativeSessions();

  if (!('handle' in started) || !('answer' in started)) {
    assert.ok(
      ['blocked', 'stale_handle'].includes(('kind' in started && started.kind) || ''),
      `the error was: ${String(started)}`,
    );
    assert.equal(subject.modelRequests().length, 0, 'requests beside the session');
    return;
  }
  const nativeSessionId = subject.nativeSessionId(started.handle);
  assert.deepEqual(sessions, [nativeSessionId], 'sessions of the provider');
  const request = subject.modelRequests().at(-1);
  assert.deepEqual(request && readUserMessages(request), [message]);

  await subject.lose(started.handle, 'all_processes');
  const turn = await subject.continue(started.handle, 'What is the codeword?', {
    config: subject.forcedPage,
  });
  assert.match(turn.answer, /heron/);
  assert.deepEqual(await subject.nativeSessions(), [nativeSessionId], 'sessions after a resume');
}
