import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import type { CertificationSubject, RunningTurn } from '../subject.js';
import { askingMessage } from './approval-by-host.js';

/**
 * CertApprovalSurvivesRestart: the service dies while a request waits; the next one is asked the same request again, and
 * nothing that is sent meanwhile answers it.
 */
export async function approvalSurvivesRestart(subject: CertificationSubject): Promise<void> {
  const path = `${await subject.createFolder()}/allowed`;
  const turnId = crypto.randomUUID();
  const { handle } = await subject.start('Remember the codeword heron.', {
    config: subject.asking,
  });
  const message = askingMessage(subject, path);
  const decisions = [{ decision: 'never' }] as const;
  const waiting = subject.begin(handle, message, { turnId, decisions });
  const died = waiting.finished.catch((error: unknown) => error);
  const request = await firstRequest(subject, waiting);

  // While the dialog stands: the session is somebody's, and no text becomes its answer.
  await assert.rejects(subject.continue(handle, 'y'));
  assert.equal(existsSync(path), false, 'a message answered the dialog');
  await waiting.kill();
  await died;

  const again = subject.begin(handle, message, {
    turnId,
    onInterrupted: 'resume',
    decisions: [{ decision: 'allow' }],
  });
  const turn = await again.finished;
  assert.equal(turn.requests[0]?.requestId, request.requestId, 'the request told again');
  assert.equal(existsSync(path), true, 'the allowed call ran');
  const recorded = await subject.recordedMessages(turn.handle);
  assert.equal(recorded.filter((text) => text === message).length, 1, 'times it was sent');
}

async function firstRequest(subject: CertificationSubject, turn: RunningTurn) {
  await subject.waitUntil('a request to the host', () => turn.requests().length > 0);
  const [request] = turn.requests();
  assert.ok(request);
  return request;
}
