import * as z from 'zod';
import type { CodingRequest, Sha256 } from '../coding-job.js';
import type { CodingAdapterContract } from './adapter-contract.wire.js';
import { digestOfJson } from './canonical-json.js';
import { absolutePath, sha256 } from './field-rules.wire.js';
import { readShape, refuseShape, type ShapeName } from './read-shape.wire.js';
import { writableRootsOf } from './role-profile.js';

/** What is put into a workspace besides the repository: nothing yet, and where may be written. */
export interface MaterializationManifest {
  readonly schemaVersion: 1;
  readonly materializerId: 'coding';
  readonly productProfile: 'coding';
  readonly version: 1;
  /** The contract's `compatibilityDigest`. */
  readonly runtimeCompatibility: Sha256;
  readonly packages: readonly never[];
  readonly effectiveInstructions: readonly never[];
  readonly allowedTools: readonly never[];
  /** As in the job, sorted. */
  readonly writableRoots: readonly string[];
}

const MANIFEST: ShapeName = { what: 'materialization manifest', kind: 'invalid_job' };

const empty = z.array(z.never()).max(0, 'must be empty');

const materializationManifest = z.strictObject({
  schemaVersion: z.literal(1),
  materializerId: z.literal('coding'),
  productProfile: z.literal('coding'),
  version: z.literal(1),
  runtimeCompatibility: sha256,
  packages: empty,
  effectiveInstructions: empty,
  allowedTools: empty,
  writableRoots: z.array(absolutePath).min(1),
});

/** The manifest of a job on an adapter. */
export function describeManifest(
  coding: CodingRequest,
  { compatibilityDigest }: Pick<CodingAdapterContract, 'compatibilityDigest'>,
): MaterializationManifest {
  return {
    schemaVersion: 1,
    materializerId: 'coding',
    productProfile: 'coding',
    version: 1,
    runtimeCompatibility: compatibilityDigest,
    packages: [],
    effectiveInstructions: [],
    allowedTools: [],
    writableRoots: [...writableRootsOf(coding)].sort(),
  };
}

/** Reads a manifest; anything else is `invalid_job`. */
export function decodeManifest(value: unknown): MaterializationManifest {
  return readShape(materializationManifest, value, MANIFEST) as MaterializationManifest;
}

/** The digest of a manifest. */
export function digestManifest(manifest: MaterializationManifest): Sha256 {
  return digestOfJson({ ...decodeManifest(manifest) });
}

/** Lets the digest of a job's own manifest pass; another is `invalid_job`. The manifest is made anew and never believed. */
export function checkManifestDigest(
  digest: string,
  coding: CodingRequest,
  contract: Pick<CodingAdapterContract, 'compatibilityDigest'>,
): void {
  if (digestManifest(describeManifest(coding, contract)) === digest) return;
  throw refuseShape(MANIFEST, {
    path: 'materializationManifestDigest',
    rule: 'must be that of the job',
  });
}
