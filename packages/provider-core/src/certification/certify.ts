import type { ProviderDefinition } from '../spec/provider-definition.js';
import { listBoundRequirements } from './requirements.js';
import type { CertificationSubject } from './subject.js';

export interface CertifyOptions {
  /** The runner's own `test`: vitest's, node:test's, or a maintainer script's. */
  readonly test: (title: string, body: () => Promise<void>) => unknown;
  readonly createSubject: () => Promise<CertificationSubject & AsyncDisposable>;
}

/** Registers one test for every certification that the provider's claims bind it to. */
export function certifyProvider(
  definition: Pick<ProviderDefinition, 'id' | 'capabilities' | 'transports'>,
  { test, createSubject }: CertifyOptions,
): void {
  for (const [certification, { prove }] of listBoundRequirements(definition)) {
    test(`${definition.id}: ${certification}`, async () => {
      await using subject = await createSubject();
      await prove(subject);
    });
  }
}
