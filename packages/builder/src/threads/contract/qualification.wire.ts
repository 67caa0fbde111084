import * as z from 'zod';
import type { Sha256 } from '../coding-job.js';
import { type CodingAdapterContract, digestContract } from './adapter-contract.wire.js';
import { sha256 } from './field-rules.wire.js';
import { readShape, refuseShape, type ShapeName } from './read-shape.wire.js';

/** What is looked at before an adapter is trusted. */
export const QUALIFICATION_DIMENSIONS = [
  'protocol-lifecycle',
  'approval-mediation',
  'streaming-events',
  'usage-accounting',
  'cancellation',
  'resumability',
  'canonical-patch',
  'review-isolation',
  'authentication-profiles',
  'workspace-isolation',
  'panic-containment',
  'dependency-compatibility',
  'license-compatibility',
] as const;

/** One of them. */
export type QualificationDimension = (typeof QUALIFICATION_DIMENSIONS)[number];

/** How far an adapter's contract was looked at, and by which evidence. */
export interface AdapterQualification {
  readonly schemaVersion: 1;
  readonly status: 'prototype-only' | 'local-qualified' | 'qualified' | 'withdrawn';
  readonly evaluated: readonly QualificationDimension[];
  /** Of the contract that was looked at; a prototype has none. */
  readonly contractDigest?: Sha256 | undefined;
  readonly evidenceDigest: Sha256;
}

/** Where an adapter is to be used: on one person's machine, or for others. */
export type AdapterUse = 'local' | 'production';

const QUALIFICATION: ShapeName = { what: 'qualification', kind: 'runner_unfit' };

/** What only a distribution to others needs. */
const NOT_LOCAL: readonly string[] = ['license-compatibility'];

const qualification = z
  .strictObject({
    schemaVersion: z.literal(1),
    status: z.enum(['prototype-only', 'local-qualified', 'qualified', 'withdrawn']),
    evaluated: z.array(z.enum(QUALIFICATION_DIMENSIONS)),
    contractDigest: sha256.optional(),
    evidenceDigest: sha256,
  })
  .refine(({ evaluated }) => new Set(evaluated).size === evaluated.length, {
    path: ['evaluated'],
    error: 'must name each dimension once',
  })
  .refine(
    ({ status, evaluated }) => listOwed(status).every((one) => evaluated.some((it) => it === one)),
    { path: ['evaluated'], error: 'must name every dimension that the status claims' },
  )
  .refine(
    ({ status, contractDigest }) =>
      status === 'withdrawn' || (status === 'prototype-only') === (contractDigest === undefined),
    { path: ['contractDigest'], error: 'is what qualifies, and a prototype has none' },
  );

function listOwed(status: AdapterQualification['status']): readonly string[] {
  if (status === 'qualified') return QUALIFICATION_DIMENSIONS;
  if (status !== 'local-qualified') return [];
  return QUALIFICATION_DIMENSIONS.filter((one) => !NOT_LOCAL.includes(one));
}

/** Reads a qualification; one that claims more than it shows is `runner_unfit`. */
export function decodeQualification(value: unknown): AdapterQualification {
  return readShape(qualification, value, QUALIFICATION) as AdapterQualification;
}

/**
 * Lets an adapter pass for a use: it was qualified for it, and for this very contract. Otherwise `runner_unfit`; a local
 * qualification is never one for production.
 */
export function checkQualification(
  value: unknown,
  { contract, use }: { readonly contract: CodingAdapterContract; readonly use: AdapterUse },
): void {
  if (value === undefined) {
    throw refuseShape(QUALIFICATION, { path: 'status', rule: `none is not enough for ${use} use` });
  }
  const { status, contractDigest } = decodeQualification(value);
  const isEnough = status === 'qualified' || (status === 'local-qualified' && use === 'local');
  if (!isEnough) {
    throw refuseShape(QUALIFICATION, {
      path: 'status',
      rule: `${status} is not enough for ${use} use`,
    });
  }
  if (contractDigest !== digestContract(contract)) {
    throw refuseShape(QUALIFICATION, {
      path: 'contractDigest',
      rule: `must be that of the contract, ${digestContract(contract)}`,
    });
  }
}
