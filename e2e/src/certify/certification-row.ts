import type { Way } from '@holdfast/provider-core';
import type {
  CertificationId,
  HistoryCertificationId,
} from '@holdfast/provider-core/certification';

/** The layer that was driven. */
export type CertifiedLayer = 'provider-core' | 'agent';

/** What one run of one certification showed. */
export interface CertificationRow {
  readonly id: CertificationId | HistoryCertificationId;
  readonly provider: string;
  readonly way: Way | 'api';
  /** The CLI's; of a model API, the package that speaks to it. */
  readonly cliVersion: string;
  /** The major version of the Node that drove it. */
  readonly node: string;
  readonly layer: CertifiedLayer;
  /** `scripted-api`: real processes and tool servers, the vendor's own package, a model on the loopback address. */
  readonly evidence: 'real-binary' | 'scripted-api';
  readonly status: 'passed' | 'failed';
  readonly ms: number;
  /** 2 when it failed and was run once more, alone. */
  readonly attempts?: number;
  /** What the first of two attempts failed with. */
  readonly firstError?: string;
}

/** A row with what went wrong. */
export interface CertificationOutcome {
  readonly row: CertificationRow;
  readonly error?: unknown;
}
