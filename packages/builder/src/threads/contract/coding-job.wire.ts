import * as z from 'zod';
import type { JsonValue } from '../../persistence/store.js';
import type { CodingJobInput, Sha256 } from '../coding-job.js';
import { CodingThreadError } from '../coding-thread-error.js';
import { implementationArtifact, reviewResult } from './artifacts.wire.js';
import { digestOfJson } from './canonical-json.js';
import { checkJobRules } from './check-job-rules.js';
import {
  absolutePath,
  boundedText,
  repositoryName,
  revision,
  safeId,
  sha256,
} from './field-rules.wire.js';
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

const codingRequest = z.strictObject({
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
  nativeModel: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/)
    .optional(),
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

/** Reads a job. One that breaks a rule is `invalid_job`, which names the path and the rule; nothing was staged for it. */
export function decodeCodingJob(value: unknown, rules: CodingJobRules): CodingJobInput {
  const parsed = codingJob.safeParse(value);
  if (!parsed.success) throw refuse(parsed.error.issues[0]);
  const job = parsed.data as CodingJobInput;
  const broken = checkJobRules(job, rules);
  if (broken) throw invalidJob(broken.path, broken.rule);
  return job;
}

/** The digest of everything a caller asked for: what makes a retry the same one. */
export function digestJob(job: CodingJobInput): Sha256 {
  return digestOfJson(job as unknown as JsonValue);
}

function refuse(issue: z.core.$ZodIssue | undefined): CodingThreadError {
  const path = issue?.path.map(String) ?? [];
  if (issue?.code === 'unrecognized_keys') {
    return invalidJob([...path, ...issue.keys.slice(0, 1)].join('.'), 'is unknown');
  }
  return invalidJob(path.join('.'), issue?.message ?? 'is no job');
}

function invalidJob(path: string, rule: string): CodingThreadError {
  const where = path.slice(0, 200);
  return new CodingThreadError('invalid_job', `The job is refused: ${where || 'it'} ${rule}.`, {
    evidence: { path: where, rule },
  });
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
