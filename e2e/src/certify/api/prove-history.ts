import { findModelProvider, providerCapabilities } from '@holdfast/provider-core';
import {
  type HistoryCertificationId,
  historyRequirements,
  listBoundHistoryRequirements,
} from '@holdfast/provider-core/certification';
import { listModelApiFixtures, type ModelApiFixture } from '../../harness/providers/model-apis.js';
import type { CertificationOutcome, CertificationRow } from '../certification-row.js';
import type { JobFilter } from '../list-jobs.js';
import { withLimit } from '../with-limit.js';
import { ApiSubject, type Tamper } from './api-subject.js';

/** One proof over one model API. */
export interface HistoryJob {
  readonly api: ModelApiFixture;
  readonly certification: HistoryCertificationId;
  readonly tamper?: Tamper | undefined;
  /** How long the proof may take; that of every proof when absent. */
  readonly limitMs?: number;
}

/** What hangs on the vendor's wire; all else is the same code for every vendor. */
const wireCertifications: ReadonlySet<HistoryCertificationId> = new Set([
  'CertHistoryContinuation',
  'CertToolCallOnce',
  'CertApiExactDelivery',
  'CertApiImages',
  'CertApiStreaming',
  'CertApiFailures',
  'CertApiUsage',
]);

/** Every proof that the claims of the model APIs make binding; through agent, which keeps their history. */
export function listHistoryJobs(
  filter: JobFilter & {
    readonly provider?: string | undefined;
    readonly 'cli-version'?: string | undefined;
  },
): readonly HistoryJob[] {
  const isOn = (list: string | undefined, name: string) =>
    list === undefined || list.split(',').includes(name);
  const { layer, way, provider, only, depth, 'cli-version': version } = filter;
  if ((layer ?? 'agent') !== 'agent' || !isOn(way, 'api') || version !== undefined) return [];
  const apis = listModelApiFixtures();
  return apis.flatMap((api, index) =>
    listBoundHistoryRequirements(providerCapabilities(api.provider))
      .filter((id) => isOn(provider, api.provider) && isOn(only, id))
      .filter((id) => depth !== 'core' || index === 0 || wireCertifications.has(id))
      .filter((id) => depth !== 'smoke' || id === 'CertHistoryContinuation')
      .map((certification) => ({ api, certification })),
  );
}

/** Runs one proof on a subject of its own. Leftovers after its close fail it too. */
export async function proveHistoryOnce(job: HistoryJob): Promise<CertificationOutcome> {
  const started = performance.now();
  let error: unknown;
  try {
    await prove(job);
  } catch (reason) {
    error = reason ?? new Error('The proof was rejected without a reason.');
  }
  const row: CertificationRow = {
    id: job.certification,
    provider: job.api.provider,
    way: 'api',
    cliVersion: findModelProvider(job.api.provider)?.package ?? '',
    node: process.versions.node.split('.')[0] ?? '',
    layer: 'agent',
    evidence: 'scripted-api',
    status: error === undefined ? 'passed' : 'failed',
    ms: Math.round(performance.now() - started),
  };
  return { row, ...(error !== undefined && { error }) };
}

async function prove({ api, certification, tamper, limitMs }: HistoryJob): Promise<void> {
  await using subject = await ApiSubject.create(api, tamper);
  await withLimit(historyRequirements[certification].prove(subject), limitMs);
}
