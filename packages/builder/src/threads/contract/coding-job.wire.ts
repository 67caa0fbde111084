import * as z from 'zod';
import type { JsonValue } from '../../persistence/store.js';
import type { CodingJobInput, Sha256 } from '../coding-job.js';
import { implementationArtifact, reviewResult } from './artifacts.wire.js';
import { digestOfJson } from './canonical-json.js';
import { checkJobRules } from './check-job-rules.js';
import {
  absolutePath,
  boundedText,
  modelId,
  repositoryName,
  revision,
  safeId,
  sha256,
} from './field-rules.wire.js';
import { readShape, refuseShape, type ShapeName } from './read-shape.wire.js';
import { threadDirective } from './thread-directive.wire.js';

const KIB = 1024;

const repository = z.strictObject({
  artifactUri: z.string().refine(isPlainFileUri, {
    error: 'must be a file: URI without host, query, fragment and ..',
  }),
  digest: sha256,
  size: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER),
  mediaType: z.literal('application/x-git-bundle'),
});

const reviewInput = z.strictObject({
  reviewId: safeId,
  repository: repositoryName,
  requirements: boundedText(256 * KIB),
  requirementsDigest: sha256,
  candidatePatch: z.string().min(1),
  implementation: implementationArtifact,
  priorReview: reviewResult.optional(),
});

/** The `coding` object of a job; what a service builds of it has more fields. */
export const codingRequest = z.strictObject({
  repository,
  baseRevision: revision,
  workspaceRoot: absolutePath.refine((path) => path.startsWith('/workspace/'), {
    error: 'must stand in /workspace/',
  }),
  writableRoots: z.array(absolutePath).min(1).optional(),
  allowedTools: z.array(z.string()),
  maximumPatchBytes: z
    .number()
    .int()
    .min(1)
    .max(128 * KIB),
  maximumChangedFiles: z.number().int().min(1).max(4096),
  role: z.enum(['implement', 'review']).optional(),
  reviewInput: reviewInput.optional(),
  remediation: z.strictObject({ priorReview: reviewResult }).optional(),
  nativeModel: modelId.optional(),
  thread: threadDirective.optional(),
});

const codingJob = z.strictObject({
  profile: z.literal('coding'),
  text: boundedText(64 * KIB),
  clientMessageId: safeId.optional(),
  coding: codingRequest,
});

/** What the service that takes a job in allows. */
export interface CodingJobRules {
  /** Every bundle stands below it; it ends with a slash. */
  readonly repositoryUriPrefix: string;
  readonly authenticationProfile: 'personal-subscription' | 'enterprise-api';
  /** The models that the attached policy admits; absent where none is attached. */
  readonly allowedModels?: readonly string[] | undefined;
}

const JOB: ShapeName = { what: 'job', kind: 'invalid_job' };

/** Reads a job. One that breaks a rule is `invalid_job`, which names the path and the rule; nothing was staged for it. */
export function decodeCodingJob(value: unknown, rules: CodingJobRules): CodingJobInput {
  const job = readShape(codingJob, value, JOB) as CodingJobInput;
  const broken = checkJobRules(job, rules);
  if (broken) throw refuseShape(JOB, broken);
  return job;
}

/** The digest of everything a caller asked for: what makes a retry the same one. */
export function digestJob(job: CodingJobInput): Sha256 {
  return digestOfJson(job as unknown as JsonValue);
}

function isPlainFileUri(uri: string): boolean {
  if (!/^file:\/\/\/[^?#\\\0]+$/.test(uri)) return false;
  try {
    const path = decodeURIComponent(uri.slice('file://'.length));
    return !path.includes('\0') && !path.split(/[/\\]/).some((part) => /^\.{1,2}$/.test(part));
  } catch {
    return false;
  }
}
