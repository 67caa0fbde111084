import assert from 'node:assert/strict';
import type { CertificationSubject } from '../subject.js';

const codewords = ['heron', 'gull'];

/** CertParallelSessions: two sessions in one folder at once start, answer and remember, each for itself. */
export async function parallelSessions(subject: CertificationSubject): Promise<void> {
  const started = await Promise.all(
    codewords.map((codeword) => subject.start(`Remember the codeword ${codeword}.`)),
  );
  assert.equal((await subject.nativeSessions()).length, 2, 'sessions of the provider');
  const turns = await Promise.all(
    started.map(({ handle }) => subject.continue(handle, 'What is the codeword?')),
  );
  for (const [index, { answer }] of turns.entries()) {
    assert.match(answer, new RegExp(codewords[index] ?? ''), 'its own codeword');
    assert.doesNotMatch(answer, new RegExp(codewords[1 - index] ?? ''), "the other's codeword");
  }
}
