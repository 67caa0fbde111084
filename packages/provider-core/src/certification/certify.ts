import type { Way } from '../spec/capabilities.js';
import { type ClaimingDefinition, listClaims } from './claims.js';
import { listBoundRequirements } from './requirements.js';
import type { CertificationSubject } from './subject.js';

export interface CertifyOptions {
  /** The runner's own `test`: vitest's, node:test's, or a maintainer script's. */
  readonly test: (title: string, body: () => Promise<void>) => unknown;
  /** Makes a driver of the provider's CLI in one of its ways. */
  readonly createSubject: (way: Way) => Promise<CertificationSubject & AsyncDisposable>;
  /** The version of the CLI that is driven; the highest that the definition names when absent. */
  readonly cliVersion?: string | undefined;
}

/**
 * Registers one test for every certification that the provider's claims bind it to, once a way. The definition may
 * live anywhere; it need not be registered.
 */
export function certifyProvider(
  definition: ClaimingDefinition,
  { test, createSubject, cliVersion }: CertifyOptions,
): void {
  for (const claims of listClaims(definition, cliVersion)) {
    for (const [certification, { prove }] of listBoundRequirements(claims)) {
      test(`${definition.id} ${claims.way}: ${certification}`, async () => {
        await using subject = await createSubject(claims.way);
        await prove(subject);
      });
    }
  }
}
