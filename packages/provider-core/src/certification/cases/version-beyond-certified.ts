import assert from 'node:assert/strict';
import type { CertificationSubject } from '../subject.js';

/** CertVersionBeyondCertified: a newer version than was certified runs with the claims below it, and says so. */
export async function versionBeyondCertified(subject: CertificationSubject): Promise<void> {
  const config = await subject.newerBinary();
  const started = await subject.start('Remember the codeword heron.', { config });
  const notices = started.events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
  assert.ok(
    notices.some((text) => /certified/i.test(text)),
    `notices of a version nobody certified: ${JSON.stringify(notices)}`,
  );
  const turn = await subject.continue(started.handle, 'What is the codeword?');
  assert.match(turn.answer, /heron/);
}
