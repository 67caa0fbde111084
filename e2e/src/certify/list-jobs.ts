import { findProvider, type Way } from '@holdfast/provider-core';
import {
  type CertificationId,
  type Claims,
  listBoundRequirements,
  listClaims,
} from '@holdfast/provider-core/certification';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import type { CertifiedLayer } from './certification-row.js';
import type { ProofJob } from './prove-once.js';

const layers: readonly CertifiedLayer[] = ['provider-core', 'agent'];

/** What a run is asked to prove; everything when nothing is said. */
export interface JobFilter {
  readonly layer?: string | undefined;
  /** Certification ids, separated by commas. */
  readonly only?: string | undefined;
  /** Ways, separated by commas. */
  readonly way?: string | undefined;
  /** `seed`: through agent only the five certifications that must hold in every layer; else all. */
  readonly 'through-agent'?: string | undefined;
  /**
   * `core`: of an older version of a CLI, without a terminal, only what hangs on the CLI's own protocol; `smoke`: of every
   * way that a session starts, goes on and remembers.
   */
  readonly depth?: string | undefined;
}

/** What no layer may add to or lose. */
const seedCertifications: ReadonlySet<CertificationId> = new Set([
  'CertSessionContinuationAfterTmuxLoss',
  'CertNativeResumeOnlyLatestMessage',
  'CertHandleRoundTrip',
  'CertNonContinuableError',
  'CertStableWorkingDir',
]);

/** What an older version may do otherwise, where the newest has all of it proven. */
const coreCertifications: ReadonlySet<CertificationId> = new Set([
  'CertSessionContinuationAfterProcessLoss',
  'CertNativeResumeOnlyLatestMessage',
  'CertSessionIdentity',
  'CertExactDelivery',
  'CertProcessDeathMidTurn',
  'CertFailures',
  'CertApprovalByHost',
  'CertUsage',
]);

const smokeCertifications: ReadonlySet<CertificationId> = new Set([
  'CertSessionContinuationAfterTmuxLoss',
  'CertSessionContinuationAfterProcessLoss',
  'CertHandleRoundTrip',
]);

/** Every proof that the claims of these CLIs' providers make binding, once a way and a layer. */
export function listJobs(clis: readonly CliUnderTest[], filter: JobFilter): readonly ProofJob[] {
  const wanted = layers.filter((layer) => filter.layer === undefined || layer === filter.layer);
  return wanted
    .flatMap((layer) => clis.flatMap((cli) => listJobsOf(cli, layer)))
    .filter(({ certification, way }) => isNamed(filter, certification, way))
    .filter((job) => isDeepEnough(clis, filter, job));
}

/** What a provider claims for each of its ways, at the version under test. */
export function claimsUnderTest({ provider, version }: CliUnderTest): readonly Claims[] {
  const definition = findProvider(provider);
  if (!definition) throw new Error(`provider-core has no provider ${provider}.`);
  return listClaims(definition, version);
}

type WayJob = ProofJob & { readonly way: Way };

function listJobsOf(cli: CliUnderTest, layer: CertifiedLayer): readonly WayJob[] {
  return claimsUnderTest(cli).flatMap((claims) =>
    listBoundRequirements(claims).map(([certification]) => ({
      cli,
      layer,
      certification,
      way: claims.way,
    })),
  );
}

function isNamed({ only, way: ways }: JobFilter, certification: string, way: string): boolean {
  const isOn = (list: string | undefined, name: string) =>
    list === undefined || list.split(',').includes(name);
  return isOn(only, certification) && isOn(ways, way);
}

function isDeepEnough(
  clis: readonly CliUnderTest[],
  { depth, 'through-agent': throughAgent }: JobFilter,
  { cli, layer, certification, way }: WayJob,
): boolean {
  if (depth === 'smoke') return smokeCertifications.has(certification);
  if (layer === 'agent' && throughAgent === 'seed') {
    // Below agent the ways are provider-core's affair, and it has them all proven.
    return way === 'tmux' && seedCertifications.has(certification);
  }
  const isNewest = clis.findLast(({ provider }) => provider === cli.provider) === cli;
  return depth !== 'core' || isNewest || way === 'tmux' || coreCertifications.has(certification);
}
