import { expectError, withoutRequests } from '../conversation.js';
import type { CertificationSubject } from '../subject.js';

/** CertStableAccount: another CLI home is another account, and a handle of the first is stale there. */
export async function stableAccount(subject: CertificationSubject): Promise<void> {
  const { handle } = await subject.start('Remember the codeword heron.');
  const cliHome = await subject.createVirginCliHome();
  await withoutRequests(subject, () =>
    expectError(subject.continue(handle, 'Who pays?', { config: { cliHome } }), 'stale_handle', {
      changedField: 'account',
    }),
  );
}
