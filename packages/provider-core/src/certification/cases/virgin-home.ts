import assert from 'node:assert/strict';
import type { CertificationSubject } from '../subject.js';

/** CertVirginHome: a CLI that was never set up ends in a typed error with its page, and nothing is pressed. */
export async function virginHome(subject: CertificationSubject): Promise<void> {
  const cliHome = await subject.createVirginCliHome();
  const turn = subject.start('Remember the codeword heron.', { config: { cliHome } });
  await assert.rejects(turn, (error: unknown) => {
    const facts: Readonly<Record<string, unknown>> = error instanceof Error ? { ...error } : {};
    assert.equal(facts['kind'], 'blocked', String(error));
    assert.ok(String(facts['pageText']).length > 0, 'the text of the page');
    return true;
  });
  assert.equal(subject.modelRequests().length, 0, 'requests of a CLI that was never set up');
}
