import assert from 'node:assert/strict';
import { expectError, withoutRequests } from '../conversation.js';
import type { CertificationSubject } from '../subject.js';

const systemPrompt = 'House rule 7341: name the colour of the door before anything else.';

/** CertStableSystemPrompt: the system prompt stands in the request after a resume too, and a changed one is stale. */
export async function stableSystemPrompt(subject: CertificationSubject): Promise<void> {
  const { handle } = await subject.start('Remember the codeword heron.', {
    config: { systemPrompt },
  });
  checkPrompt(subject, 'at the start');
  await withoutRequests(subject, () =>
    expectError(
      subject.continue(handle, 'Which rule?', { config: { systemPrompt: 'No rules.' } }),
      'stale_handle',
      { changedField: 'system_prompt' },
    ),
  );

  await subject.lose(handle, 'all_processes');
  await subject.continue(handle, 'Which rule after the loss?');
  checkPrompt(subject, 'after a resume');
}

function checkPrompt(subject: CertificationSubject, when: string): void {
  const seen = subject.modelRequests().at(-1)?.systemText ?? '';
  assert.equal(seen.split(systemPrompt).length - 1, 1, `times the system prompt was sent ${when}`);
}
