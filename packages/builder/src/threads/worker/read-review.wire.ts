import * as z from 'zod';
import type { ReviewInput, ReviewResult } from '../coding-job.js';
import { CodingThreadError } from '../coding-thread-error.js';
import { reviewResult } from '../contract/artifacts.wire.js';
import { readJsonObject } from './read-json-object.js';

const { $schema: _version, ...schema } = z.toJSONSchema(reviewResult);

/** JSON schema of a reviewer's answer, for a CLI that can be held to one. */
export const reviewSchema: Readonly<Record<string, unknown>> = schema;

/** Reads a reviewer's answer: the one JSON object that was asked for, about this candidate. Anything else is `thread_failed`. */
export function readReview(
  answer: string,
  { reviewId, implementation }: ReviewInput,
): ReviewResult {
  const parsed = reviewResult.safeParse(readJsonObject(answer));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw refused(issue?.path.map(String).join('.') ?? '', issue?.message ?? 'is no review');
  }
  const review = parsed.data as ReviewResult;
  if (review.reviewId !== reviewId) throw refused('reviewId', 'is another than was asked for');
  if (review.artifactDigest !== implementation.patchDigest) {
    throw refused('artifactDigest', 'is not that of the candidate');
  }
  return review;
}

function refused(path: string, rule: string): CodingThreadError {
  return new CodingThreadError(
    'thread_failed',
    `The answer is no review of this candidate: ${path || 'it'} ${rule}.`,
    { evidence: { path, rule } },
  );
}
