import type {
  CodingJobInput,
  ImplementationArtifact,
  ReviewResult,
  Sha256,
} from '../../coding-job.js';
import { digestOfText } from '../canonical-json.js';
import type { CodingJobRules } from '../coding-job.wire.js';

const SESSION = '019a0000-0000-7000-8000-000000000001';
export const CHECKPOINT = '019a0000-0000-7000-8000-000000000002';
const BASE = 'a'.repeat(40);
export const DIGEST: Sha256 = `sha256:${'b'.repeat(64)}`;
export const PATCH = [
  'diff --git a/src/one.txt b/src/one.txt',
  '--- a/src/one.txt',
  '+++ b/src/one.txt',
  '@@ -1 +1 @@',
  '--- a/not-a-header',
  '+two',
  '',
].join('\n');

export const jobRules: CodingJobRules = {
  repositoryUriPrefix: 'file:///bundles/',
  authenticationProfile: 'personal-subscription',
};

const base = {
  repository: {
    artifactUri: 'file:///bundles/r.bundle',
    digest: DIGEST,
    size: 48_211,
    mediaType: 'application/x-git-bundle',
  },
  baseRevision: BASE,
  workspaceRoot: '/workspace/repo',
  maximumPatchBytes: 131_072,
  maximumChangedFiles: 64,
} as const;

const directive = { runnerId: 'personal', sessionRef: SESSION, stageId: 'stage-A' } as const;

/** An implementer's first job. */
export function implementJob(change: Partial<CodingJobInput['coding']> = {}): CodingJobInput {
  return {
    profile: 'coding',
    text: 'Build it.',
    coding: {
      ...base,
      allowedTools: ['fs.read', 'fs.write', 'process.exec'],
      thread: { ...directive, mode: 'new' },
      ...change,
    },
  };
}

export function artifact(change: Partial<ImplementationArtifact> = {}): ImplementationArtifact {
  return {
    schemaVersion: 1,
    adapterContractDigest: DIGEST,
    repositoryDigest: DIGEST,
    baseRevision: BASE,
    patchDigest: digestOfText(PATCH),
    changedPaths: ['src/one.txt'],
    validationEvidence: [{ command: ['true'], status: 'passed', exitCode: 0 }],
    resolvedFindingIds: [],
    ...change,
  };
}

export function review(change: Partial<ReviewResult> = {}): ReviewResult {
  const finding = {
    findingId: 'f1',
    severity: 'high',
    repository: 'owner/name',
    location: 'src/one.txt',
    summary: 'It is wrong.',
    evidence: 'Line 1.',
    requiredResolution: 'Make it right.',
  } as const;
  return {
    schemaVersion: 1,
    reviewId: 'r1',
    artifactDigest: DIGEST,
    verdict: 'changes-required',
    findings: [finding],
    validationGaps: [],
    ...change,
  };
}

/** A reviewer's first job. */
export function reviewJob(
  input: Partial<CodingJobInput['coding']['reviewInput'] & object> = {},
): CodingJobInput {
  const requirements = 'It works.';
  return implementJob({
    role: 'review',
    allowedTools: ['fs.read', 'process.exec'],
    reviewInput: {
      reviewId: 'r2',
      repository: 'owner/name',
      requirements,
      requirementsDigest: digestOfText(requirements),
      candidatePatch: PATCH,
      implementation: artifact(),
      ...input,
    },
  });
}
