import assert from 'node:assert/strict';
import { expectError, withoutRequests } from '../conversation.js';
import type { CertificationSubject } from '../subject.js';

/** CertStableModel: a resume asks the same model, and another one is a stale handle. */
export async function stableModel(subject: CertificationSubject): Promise<void> {
  const { handle } = await subject.start('Remember the codeword heron.');
  await withoutRequests(subject, () =>
    expectError(
      subject.continue(handle, 'Who answers?', { config: { model: 'another-model' } }),
      'stale_handle',
      { changedField: 'model' },
    ),
  );

  await subject.lose(handle, 'all_processes');
  await subject.continue(handle, 'Who answers after the loss?');
  assert.equal(subject.modelRequests().at(-1)?.model, subject.model);
}
