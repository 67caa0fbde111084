import assert from 'node:assert/strict';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject } from '../subject.js';

/** CertQuestionByHost: the host's choice is what the model is told, and an unanswered question never hangs. */
export async function questionByHost(subject: CertificationSubject): Promise<void> {
  const { handle } = await subject.start('Remember the codeword heron.');
  const call = subject.questionCall('Which boat shall we take?', ['the red boat', 'the blue boat']);
  const message = scripted('Ask me.', { tools: [call], after: [{ text: 'asked' }] });
  const chosen = await subject.continue(handle, message, {
    decisions: [{ decision: 'choose', choice: 1 }],
  });
  assert.equal(chosen.answer, 'asked');
  assert.equal(chosen.requests.length, 1, 'requests to the host');
  assert.equal(chosen.requests[0]?.type, 'question');
  assert.match(lastToolResult(subject), /the blue boat/);

  const again = scripted('Ask me once more.', { tools: [call], after: [{ text: 'asked again' }] });
  const silent = await subject.continue(chosen.handle, again, {
    decisions: [{ decision: 'never' }],
    limits: { approvalMs: 1_500 },
  });
  assert.deepEqual(
    silent.events.flatMap((event) => (event.type === 'approval_settled' ? [event.by] : [])),
    ['deadline'],
  );
}

function lastToolResult(subject: CertificationSubject): string {
  const results = subject.modelRequests().at(-1)?.messages ?? [];
  return results.findLast(({ role }) => role === 'tool')?.texts.join('\n') ?? '';
}
