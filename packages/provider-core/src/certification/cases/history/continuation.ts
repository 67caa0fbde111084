import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { expectError } from '../../conversation.js';
import type { HistorySubject } from '../../history-subject.js';
import { CODEWORD, checkHistory, QUESTION, readRoles } from './check-history.js';

/** CertHistoryContinuation: another process goes on from our history, however the one before it died. */
export async function historyContinuation(subject: HistorySubject): Promise<void> {
  const turnId = randomUUID();
  const killed = subject.begin(undefined, CODEWORD, { turnId, dieAt: 'api:step_started' });
  await expectError(killed.finished, 'worker_died');
  const first = await subject.start(CODEWORD, { turnId });
  assert.equal(first.recovered, true, 'the turn of the killed process is gone on with');
  checkHistory(subject, [CODEWORD]);

  await subject.restartModel();
  const turn = { turnId: randomUUID() };
  const cut = subject.begin(first.handle, QUESTION, { ...turn, dieAt: 'api:step_finished' });
  await expectError(cut.finished, 'worker_died');
  const second = await subject.continue(first.handle, QUESTION, turn);
  assert.match(second.answer, /heron/);
  checkHistory(subject, [CODEWORD, QUESTION]);
  assert.deepEqual(readRoles(subject), ['user', 'assistant', 'user']);

  const last = 'And what is the codeword?';
  const conversation = [
    { role: 'user', content: CODEWORD },
    { role: 'assistant', content: first.answer },
    { role: 'user', content: QUESTION },
    { role: 'assistant', content: second.answer },
    { role: 'user', content: last },
  ] as const;
  const third = await subject.converse(second.handle, conversation);
  assert.match(third.answer, /heron/);
  checkHistory(subject, [CODEWORD, QUESTION, last]);
  assert.deepEqual(readRoles(subject), ['user', 'assistant', 'user', 'assistant', 'user']);
}
