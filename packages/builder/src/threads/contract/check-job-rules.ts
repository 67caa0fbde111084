import type { CodingJobInput, CodingRequest, ReviewInput } from '../coding-job.js';
import { digestOfText } from './canonical-json.js';
import type { CodingJobRules } from './coding-job.wire.js';
import { isInside, isSameSet } from './field-rules.wire.js';
import { readPatchPaths } from './read-patch-paths.js';
import type { BrokenRule } from './read-shape.wire.js';
import { REVIEW_SCRATCH, ROLE_PROFILES } from './role-profile.js';

type Rule = readonly [isBroken: boolean, path: string, rule: string];

/** The first rule that a well-formed job breaks, of those that weigh several fields against each other. */
export function checkJobRules(
  { coding }: CodingJobInput,
  rules: CodingJobRules,
): BrokenRule | undefined {
  const all = [
    ...listServiceRules(coding, rules),
    ...listRoleRules(coding),
    ...listRootRules(coding),
    ...(coding.reviewInput ? listReviewRules(coding, coding.reviewInput) : []),
  ];
  const broken = all.find(([isBroken]) => isBroken);
  return broken && { path: broken[1], rule: broken[2] };
}

function listServiceRules(
  { repository, thread, nativeModel }: CodingRequest,
  { repositoryUriPrefix, authenticationProfile, allowedModels }: CodingJobRules,
): readonly Rule[] {
  const isBelow = repositoryUriPrefix.endsWith('/')
    ? repository.artifactUri.startsWith(repositoryUriPrefix)
    : false;
  const isAdmitted = nativeModel === undefined || allowedModels?.includes(nativeModel) === true;
  return [
    [!isBelow, 'coding.repository.artifactUri', 'must stand below the prefix of the service'],
    [!isAdmitted, 'coding.nativeModel', 'is admitted by no policy'],
    [
      thread !== undefined && authenticationProfile !== 'personal-subscription',
      ...(['coding.thread', 'needs a personal subscription'] as const),
    ],
  ];
}

function listRoleRules(coding: CodingRequest): readonly Rule[] {
  const { role = 'implement', thread, reviewInput, remediation, allowedTools } = coding;
  const needsInput = role === 'review' && thread?.mode !== 'close';
  const isMendable = !remediation || remediation.priorReview.verdict === 'changes-required';
  return [
    [
      !isSameSet(allowedTools, ROLE_PROFILES[role].allowedTools),
      'coding.allowedTools',
      'must be those of the role',
    ],
    [needsInput && !reviewInput, 'coding.reviewInput', 'is required for a review'],
    [role === 'implement' && !!reviewInput, 'coding.reviewInput', 'is for a review alone'],
    [role === 'review' && !!remediation, 'coding.remediation', 'is for an implementation alone'],
    [!isMendable, 'coding.remediation.priorReview.verdict', 'must be changes-required'],
  ];
}

function listRootRules(coding: CodingRequest): readonly Rule[] {
  const { role = 'implement', workspaceRoot, writableRoots = [] } = coding;
  const isReview = role === 'review';
  const reviewed = [...writableRoots, REVIEW_SCRATCH];
  return [
    [
      !isReview && writableRoots.some((root) => !isInside(root, workspaceRoot)),
      ...(['coding.writableRoots', 'must stand inside workspaceRoot'] as const),
    ],
    [
      isReview &&
        reviewed.some((root) => isInside(workspaceRoot, root) || isInside(root, workspaceRoot)),
      ...(['coding.writableRoots', 'must stand apart from workspaceRoot in a review'] as const),
    ],
  ];
}

function listReviewRules(coding: CodingRequest, input: ReviewInput): readonly Rule[] {
  const { candidatePatch, implementation, requirements, requirementsDigest } = input;
  const at = 'coding.reviewInput';
  return [
    [
      Buffer.byteLength(candidatePatch) > coding.maximumPatchBytes,
      `${at}.candidatePatch`,
      'is larger than maximumPatchBytes',
    ],
    [
      digestOfText(requirements) !== requirementsDigest,
      `${at}.requirementsDigest`,
      'must be that of requirements',
    ],
    [
      digestOfText(candidatePatch) !== implementation.patchDigest,
      `${at}.implementation.patchDigest`,
      'must be that of candidatePatch',
    ],
    [
      implementation.baseRevision !== coding.baseRevision,
      `${at}.implementation.baseRevision`,
      'must be the base of the job',
    ],
    [!isPathsOf(input), `${at}.implementation.changedPaths`, 'must be the paths of candidatePatch'],
    [
      implementation.changedPaths.length > coding.maximumChangedFiles,
      `${at}.implementation.changedPaths`,
      'are more than maximumChangedFiles',
    ],
    ...listPriorRules(input),
  ];
}

/** Each path that was written must be named, and no other; where a renamed file stood may be. */
function isPathsOf({ candidatePatch, implementation }: ReviewInput): boolean {
  const { changed, renamedFrom } = readPatchPaths(candidatePatch);
  const named = new Set(implementation.changedPaths);
  const touched = new Set([...changed, ...renamedFrom]);
  const isEachOnce = named.size === implementation.changedPaths.length;
  return (
    isEachOnce &&
    changed.every((path) => named.has(path)) &&
    [...named].every((path) => touched.has(path))
  );
}

function listPriorRules({ priorReview, implementation }: ReviewInput): readonly Rule[] {
  const { resolvedFindingIds, patchDigest } = implementation;
  const at = 'coding.reviewInput';
  const owed = priorReview?.findings.map(({ findingId }) => findingId) ?? [];
  return [
    [priorReview?.verdict === 'approved', `${at}.priorReview.verdict`, 'must be changes-required'],
    [
      priorReview?.artifactDigest === patchDigest,
      `${at}.priorReview.artifactDigest`,
      'must be another patch than the candidate',
    ],
    [
      !isSameSet(resolvedFindingIds, owed),
      `${at}.implementation.resolvedFindingIds`,
      'must be exactly the findings of priorReview',
    ],
  ];
}
