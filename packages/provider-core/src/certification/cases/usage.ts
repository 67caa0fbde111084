import assert from 'node:assert/strict';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject, SubjectTurn } from '../subject.js';

const turns = [
  { input: 100, output: 11 },
  { input: 250, output: 23 },
  { input: 400, output: 37 },
];

/** CertUsage: tokens are those of the turn alone, right after a resume too, and the session's total only grows. */
export async function usageOfTurns(subject: CertificationSubject): Promise<void> {
  let last: SubjectTurn = await subject.start('Remember the codeword heron.');
  let total = sessionTokens(last);
  for (const [index, usage] of turns.entries()) {
    if (index > 0) await subject.lose(last.handle, 'all_processes');
    last = await subject.continue(
      last.handle,
      scripted(`Count this one (${index}).`, { text: 'counted', usage }),
    );
    assert.equal(last.usage?.inputTokens, usage.input, `input tokens of turn ${index}`);
    assert.equal(last.usage?.outputTokens, usage.output, `output tokens of turn ${index}`);
    assert.ok(
      sessionTokens(last) >= total + usage.output,
      `the session's output tokens: ${total}, then ${sessionTokens(last)}`,
    );
    total = sessionTokens(last);
  }
}

function sessionTokens({ sessionUsage }: SubjectTurn): number {
  assert.ok(sessionUsage, 'the usage of the session');
  return sessionUsage.outputTokens;
}
