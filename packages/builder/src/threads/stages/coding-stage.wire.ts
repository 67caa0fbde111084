import * as z from 'zod';
import { CodingThreadError } from '../coding-thread-error.js';
import {
  absolutePath,
  boundedText,
  repositoryName,
  revision,
  safeId,
  sha256,
} from '../contract/field-rules.wire.js';
import type { CodingStage } from './coding-stage.js';

const KIB = 1024;

const agent = z.strictObject({ runnerId: safeId, nativeModel: z.string().min(1).optional() });

const bound = (max: number) => z.number().int().min(1).max(max);

/** What a stage may hold; what only a job can be judged by is refused with the job. */
const codingStage = z.strictObject({
  stageId: safeId,
  repository: z.strictObject({
    artifactUri: z.string().min(1),
    digest: sha256,
    size: z.number().int().min(1),
    mediaType: z.literal('application/x-git-bundle'),
  }),
  baseRevision: revision,
  repositoryName,
  workspaceRoot: absolutePath,
  writableRoots: z.array(absolutePath).min(1).optional(),
  prompt: boundedText(64 * KIB),
  requirements: boundedText(256 * KIB),
  implementer: agent,
  reviewer: agent,
  finalReviewer: agent.optional(),
  maxRemediations: z.number().int().min(0).max(100).optional(),
  maxReplacements: z.number().int().min(0).max(100).optional(),
  maximumPatchBytes: bound(128 * KIB).optional(),
  maximumChangedFiles: bound(4096).optional(),
  timeoutMs: z.number().int().min(1).optional(),
});

/** Reads a stage; one that is none is `invalid_job`, and nothing is kept of it. */
export function decodeCodingStage(value: unknown): CodingStage {
  const parsed = codingStage.safeParse(value);
  if (parsed.success) return parsed.data as CodingStage;
  const issue = parsed.error.issues[0];
  const path = (issue?.path.map(String).join('.') ?? '').slice(0, 200);
  const rule = issue?.message ?? 'is none';
  throw new CodingThreadError('invalid_job', `The stage is refused: ${path || 'it'}: ${rule}.`, {
    evidence: { path, rule },
  });
}
