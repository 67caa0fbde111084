import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { expectError } from '../../conversation.js';
import type { HistorySubject } from '../../history-subject.js';
import type { HandleJson } from '../../subject.js';
import { CODEWORD, checkHistory, QUESTION, sendsNothing } from './check-history.js';

/** CertApiLease: one process writes a session; another is refused or waits, and a dead one holds nothing. */
export async function apiLease(subject: HistorySubject): Promise<void> {
  const { handle } = await subject.start(CODEWORD);
  const release = subject.holdModel();
  const asked = 'First of two.';
  const one = subject.begin(handle, asked);
  const before = subject.modelRequests().length;
  await subject.waitUntil('the first request', () => subject.modelRequests().length > before);
  await refusedAtOnce(subject, handle);
  const other = subject.begin(handle, 'Second of two.', { whenBusy: 'wait' });
  release();
  await one.finished;
  await other.finished;
  checkHistory(subject, [CODEWORD, asked, 'Second of two.']);

  const turnId = randomUUID();
  const killed = subject.begin(handle, 'Cut off.', { turnId, dieAt: 'api:step_started' });
  await expectError(killed.finished, 'worker_died');
  const { answer } = await subject.continue(handle, QUESTION);
  assert.match(answer, /heron/);
  // Its place is taken: the model answered a later message behind it.
  await sendsNothing(subject, () =>
    expectError(subject.continue(handle, 'Cut off.', { turnId }), 'turn_interrupted', {
      accepted: true,
    }),
  );
}

/** Also where it is not refused this ends: the model, which stands still, was asked. */
async function refusedAtOnce(subject: HistorySubject, handle: HandleJson): Promise<void> {
  const before = subject.modelRequests().length;
  const refused = subject.begin(handle, 'Refused.');
  let isOver = false;
  refused.finished
    .catch(() => {})
    .finally(() => {
      isOver = true;
    });
  const isSent = () => subject.modelRequests().length > before;
  await subject.waitUntil('the second process to end', () => isOver || isSent());
  assert.equal(isSent(), false, 'the second process has sent its message');
  await expectError(refused.finished, 'session_busy');
}

/** CertApiQueue: queued messages outlive their process, keep their order, and each goes in once as itself. */
export async function apiQueue(subject: HistorySubject): Promise<void> {
  const agentId = 'queued-agent';
  const { handle } = await subject.start(CODEWORD, { config: { agentId } });
  const queued = ['First in line.', 'Second in line.', 'Third in line.'];
  const before = subject.modelRequests().length;
  const release = subject.holdModel();
  const service = await subject.enqueue(handle, queued, agentId);
  await subject.waitUntil('the first of them', () => subject.modelRequests().length > before);
  await service.kill();
  release();
  await subject.drain(handle, agentId);
  checkHistory(subject, [CODEWORD, ...queued]);
  await sendsNothing(subject, () => subject.drain(handle, agentId));
}
