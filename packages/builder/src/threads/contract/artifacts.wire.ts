import * as z from 'zod';
import { relativePath, repositoryName, revision, safeId, sha256 } from './field-rules.wire.js';

const evidence = z
  .strictObject({
    command: z.array(z.string()).min(1),
    status: z.enum(['passed', 'failed', 'not-run']),
    exitCode: z.number().int().nullable(),
    artifactDigest: sha256.optional(),
  })
  .refine(({ status, exitCode }) => status === statusOf(exitCode), {
    path: ['exitCode'],
    error: 'must be 0 for passed, another number for failed and null for not-run',
  });

function statusOf(exitCode: number | null): string {
  if (exitCode === null) return 'not-run';
  return exitCode === 0 ? 'passed' : 'failed';
}

/** What an implementer produced. */
export const implementationArtifact = z.strictObject({
  schemaVersion: z.literal(1),
  adapterContractDigest: sha256,
  repositoryDigest: sha256,
  baseRevision: revision,
  patchDigest: sha256,
  changedPaths: z.array(relativePath).min(1),
  validationEvidence: z.array(evidence),
  resolvedFindingIds: z.array(safeId),
});

const finding = z.strictObject({
  findingId: safeId,
  severity: z.enum(['low', 'medium', 'high', 'critical']),
  repository: repositoryName,
  location: relativePath,
  summary: z.string().min(1),
  evidence: z.string().min(1),
  requiredResolution: z.string().min(1),
});

/** What a reviewer decided. */
export const reviewResult = z
  .strictObject({
    schemaVersion: z.literal(1),
    reviewId: safeId,
    artifactDigest: sha256,
    verdict: z.enum(['approved', 'changes-required']),
    findings: z.array(finding),
    validationGaps: z.array(z.string()),
  })
  .refine(({ verdict, findings }) => (verdict === 'approved') === (findings.length === 0), {
    path: ['verdict'],
    error: 'is approved without findings, and only then',
  })
  .refine(
    ({ findings }) => new Set(findings.map((one) => one.findingId)).size === findings.length,
    {
      path: ['findings'],
      error: 'must have ids of their own',
    },
  );
