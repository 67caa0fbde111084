import assert from 'node:assert/strict';
import { expectError } from '../conversation.js';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject } from '../subject.js';

/** CertPermissionsAfterResume: what was forbidden before a resume is forbidden after it, and a looser policy is stale. */
export async function permissionsAfterResume(subject: CertificationSubject): Promise<void> {
  const toolPolicy = { permissions: 'read_only' } as const;
  const folder = await subject.createFolder();
  const { handle } = await subject.start('Remember the codeword heron.', {
    config: { toolPolicy },
  });
  await expectError(
    subject.continue(handle, 'Looser?', { config: { toolPolicy: { permissions: 'full' } } }),
    'stale_handle',
    { changedField: 'tool_policy' },
  );

  await subject.lose(handle, 'all_processes');
  const forbidden = subject.shellCall(`touch ${folder}/forbidden`);
  const message = scripted('Try to write.', { tools: [forbidden], after: [{ text: 'tried' }] });
  await subject.continue(handle, message).catch(() => undefined);
  assert.equal(await subject.hasFiles(folder), false, 'a forbidden tool ran after the resume');
}
