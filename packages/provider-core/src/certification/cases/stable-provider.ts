import { expectError, withoutRequests } from '../conversation.js';
import type { CertificationSubject } from '../subject.js';

/** CertStableProvider: a handle that names another provider is stale, and no session of that one is touched. */
export async function stableProvider(subject: CertificationSubject): Promise<void> {
  const { handle } = await subject.start('Remember the codeword heron.');
  const other = subject.withProviderFields(handle, { provider: subject.otherProvider });
  await withoutRequests(subject, () =>
    expectError(
      subject.continue(other, 'Whose are you?', { config: { workingDir: subject.workingDir } }),
      'stale_handle',
      { changedField: 'provider' },
    ),
  );
}
