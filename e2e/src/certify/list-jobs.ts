import { findProvider } from '@holdfast/provider-core';
import { type CertificationId, listBoundRequirements } from '@holdfast/provider-core/certification';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import type { CertifiedLayer } from './certification-row.js';
import type { ProofJob } from './prove-once.js';

const layers: readonly CertifiedLayer[] = ['provider-core', 'agent'];

export interface JobFilter {
  readonly layer?: string | undefined;
  /** Certification ids, separated by commas. */
  readonly only?: string | undefined;
  /** `seed`: through agent only the five certifications that must hold in every layer; else all. */
  readonly 'through-agent'?: string | undefined;
}

/** What no layer may add to or lose. */
const seedCertifications: ReadonlySet<CertificationId> = new Set([
  'CertSessionContinuationAfterTmuxLoss',
  'CertNativeResumeOnlyLatestMessage',
  'CertHandleRoundTrip',
  'CertNonContinuableError',
  'CertStableWorkingDir',
]);

/** Every proof that the claims of these CLIs' providers make binding, once a layer. */
export function listJobs(clis: readonly CliUnderTest[], filter: JobFilter): readonly ProofJob[] {
  const only = filter.only?.split(',');
  return layers
    .filter((layer) => filter.layer === undefined || layer === filter.layer)
    .flatMap((layer) =>
      clis.flatMap((cli) => {
        const definition = findProvider(cli.provider);
        if (!definition) throw new Error(`provider-core has no provider ${cli.provider}.`);
        return listBoundRequirements(definition).map(([certification]) => ({
          cli,
          layer,
          certification,
        }));
      }),
    )
    .filter(({ certification }) => only === undefined || only.includes(certification))
    .filter(
      ({ layer, certification }) =>
        layer !== 'agent' ||
        filter['through-agent'] !== 'seed' ||
        seedCertifications.has(certification),
    );
}
