import type { Way } from '@holdfast/provider-core';
import type { CertificationId } from '@holdfast/provider-core/certification';

/** The layer that was driven. */
export type CertifiedLayer = 'provider-core' | 'agent';

/** What one run of one certification showed. */
export interface CertificationRow {
  readonly id: CertificationId;
  readonly provider: string;
  readonly way: Way;
  readonly cliVersion: string;
  /** The major version of the Node that drove it. */
  readonly node: string;
  readonly layer: CertifiedLayer;
  readonly evidence: 'real-binary';
  readonly status: 'passed' | 'failed';
  readonly ms: number;
}

/** A row with what went wrong. */
export interface CertificationOutcome {
  readonly row: CertificationRow;
  readonly error?: unknown;
}
