import type { CodingRequest, Finding, ReviewInput } from '../coding-job.js';
import { encodeCanonicalJson } from '../contract/canonical-json.js';
import type { Workspace } from '../workspace/workspace.js';
import { reviewSchema } from './read-review.wire.js';

/** What a prompt is written from. */
export interface PromptParts {
  /** The task, as the caller gave it. */
  readonly text: string;
  readonly coding: Pick<CodingRequest, 'reviewInput' | 'remediation' | 'baseRevision'>;
  readonly workspace: Pick<Workspace, 'workTree' | 'scratch'>;
  /** Where an implementer may write, as absolute paths. */
  readonly writableRoots: readonly string[];
}

/** The message of a turn: where the repository is now, the task, and what the role needs besides. */
export function writePrompt(parts: PromptParts): string {
  const { text, coding } = parts;
  const { reviewInput, remediation } = coding;
  const own = reviewInput
    ? [describeReview(parts), describeCandidate(reviewInput), describeReviewAnswer(reviewInput)]
    : [describeImplementation(parts), ...(remediation ? [describeRemediation(remediation)] : [])];
  return [describePlace(parts), `Task:\n${text}`, ...own].join('\n\n');
}

function describePlace({ workspace, coding }: PromptParts): string {
  return [
    `The repository of this job stands at ${workspace.workTree}, rebuilt from revision ${coding.baseRevision}.`,
    'Paths and tool observations from earlier in this conversation may be stale: look again before you rely on them.',
    'Untracked and ignored files, shell state and running processes of earlier jobs were not carried over.',
  ].join('\n');
}

function describeImplementation({ writableRoots, workspace }: PromptParts): string {
  return [
    `Change files only below: ${writableRoots.join(', ')}. What is temporary goes into ${workspace.scratch}.`,
    'Do not commit: what differs from the revision in the end is the result.',
  ].join('\n');
}

function describeRemediation({ priorReview }: NonNullable<CodingRequest['remediation']>): string {
  return [
    'A review of your last result asks for changes. The review:',
    toJson(priorReview),
    'Resolve its findings. End your answer with one line of JSON that names those that you have resolved, and no other:',
    toJson({ resolvedFindingIds: priorReview.findings.map(({ findingId }) => findingId) }),
  ].join('\n');
}

function describeReview({ workspace }: PromptParts): string {
  return [
    'You review a candidate: the repository holds the revision with the candidate applied. Change nothing in it.',
    `The only place where you may write is ${workspace.scratch}.`,
  ].join('\n');
}

function describeCandidate(input: ReviewInput): string {
  const { requirements, implementation, priorReview } = input;
  const { validationEvidence, changedPaths, patchDigest, resolvedFindingIds } = implementation;
  return [
    `Requirements:\n${requirements}`,
    `The candidate: ${toJson({ artifactDigest: patchDigest, changedPaths, resolvedFindingIds })}`,
    `Evidence that the implementer gave: ${toJson(validationEvidence)}`,
    `Findings of the review before: ${toJson(listPrior(priorReview))}`,
  ].join('\n\n');
}

function listPrior(priorReview: ReviewInput['priorReview']): readonly Finding[] {
  return priorReview?.findings ?? [];
}

function describeReviewAnswer({ reviewId, repository, implementation }: ReviewInput): string {
  return [
    'Answer with one JSON object and nothing else. It must have this JSON schema:',
    toJson(reviewSchema),
    `"reviewId" is ${toJson(reviewId)}, "artifactDigest" is ${toJson(implementation.patchDigest)}, the "repository" of each finding is ${toJson(repository)}.`,
    'The verdict is "approved" without findings, and only then. A finding that is named again keeps its "findingId".',
  ].join('\n');
}

function toJson(value: unknown): string {
  return encodeCanonicalJson(JSON.parse(JSON.stringify(value)));
}
