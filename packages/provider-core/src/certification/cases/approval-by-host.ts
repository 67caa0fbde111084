import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { scripted } from '../scripted-model/scripted-step.js';
import type {
  CertificationSubject,
  HandleJson,
  SubjectTurn,
  SubjectTurnOptions,
} from '../subject.js';

/** CertApprovalByHost: the host allows or denies a tool call; silence denies at the deadline, no handler never hangs. */
export async function approvalByHost(subject: CertificationSubject): Promise<void> {
  const folder = await subject.createFolder();
  const { handle } = await subject.start('Remember the codeword heron.', {
    config: subject.asking,
    decisions: [{ decision: 'deny' }],
  });
  const allowed = await askFor(subject, handle, `${folder}/allowed`, {
    decisions: [{ decision: 'allow' }],
  });
  checkSettled(allowed, 'allow', ['host']);
  assert.equal(existsSync(`${folder}/allowed`), true, 'the allowed call ran');

  const denied = await askFor(subject, allowed.handle, `${folder}/denied`, {
    decisions: [{ decision: 'deny', message: 'Not today.' }],
  });
  checkSettled(denied, 'deny', ['host']);
  const silent = await askFor(subject, denied.handle, `${folder}/silent`, {
    decisions: [{ decision: 'never' }],
    limits: { approvalMs: 1_500 },
  });
  checkSettled(silent, 'deny', ['deadline']);
  const alone = await askFor(subject, silent.handle, `${folder}/alone`, {});
  assert.deepEqual(alone.requests, [], 'requests without a handler');

  for (const name of ['denied', 'silent', 'alone']) {
    assert.equal(existsSync(`${folder}/${name}`), false, `the call ${name} ran`);
  }
  const last = await subject.continue(alone.handle, 'What is the codeword?');
  assert.match(last.answer, /heron/);
}

/** Runs a turn whose tool call must be allowed. */
function askFor(
  subject: CertificationSubject,
  handle: HandleJson,
  path: string,
  options: SubjectTurnOptions,
): Promise<SubjectTurn> {
  return subject.continue(handle, askingMessage(subject, path), options);
}

/** A message whose tool call must be allowed and writes at `path` when it is. */
export function askingMessage(subject: CertificationSubject, path: string): string {
  return scripted('Ask before you act.', {
    tools: [subject.askingCall(path)],
    after: [{ text: 'asked' }],
  });
}

function checkSettled(turn: SubjectTurn, decision: string, by: readonly string[]): void {
  assert.equal(turn.requests.length, 1, 'requests to the host');
  const [request] = turn.requests;
  assert.equal(request?.type, 'approval');
  const asked = turn.events.filter(({ type }) => type === 'approval_requested');
  assert.deepEqual(
    asked.map((event) => 'requestId' in event && event.requestId),
    [request?.requestId],
    'the requests that were told',
  );
  const settled = turn.events.flatMap((event) =>
    event.type === 'approval_settled' ? [[event.requestId, event.decision, event.by]] : [],
  );
  assert.deepEqual(settled, [[request?.requestId, decision, ...by]], 'what settled it');
}
