import type { CertificationId } from '@holdfast/provider-core/certification';

/** The layer that was driven. */
export type CertifiedLayer = 'provider-core' | 'agent';

/** What one run of one certification showed. */
export interface CertificationRow {
  readonly provider: string;
  readonly transport: 'tmux';
  readonly cliVersion: string;
  readonly certification: CertificationId;
  readonly evidence: 'real-binary';
  readonly result: 'passed' | 'failed';
  readonly layer: CertifiedLayer;
}

/** A row with what people want to know besides. */
export interface CertificationOutcome {
  readonly row: CertificationRow;
  readonly seconds: number;
  readonly error?: unknown;
}
