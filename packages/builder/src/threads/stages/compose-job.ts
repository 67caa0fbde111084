import type { CodingJobInput, Remediation, ReviewInput, ThreadDirective } from '../coding-job.js';
import { digestOfText } from '../contract/canonical-json.js';
import { ROLE_PROFILES } from '../contract/role-profile.js';
import type { CodingStage, StageAgent } from './coding-stage.js';
import { listUnclaimed } from './next-move.js';
import { CLOSE_TEXT, mendText, REMEDIATION_TEXT, reviewText } from './stage-prompts.js';
import {
  getThread,
  roleOf,
  type StageCandidate,
  type StageRecord,
  type StageSeat,
} from './stage-record.js';

const MAX_PATCH_BYTES = 128 * 1024;
const MAX_CHANGED_FILES = 4096;

/** What a job is made from. */
export interface ComposeJob {
  readonly stage: CodingStage;
  readonly record: StageRecord;
  readonly seat: StageSeat;
  readonly task: 'implement' | 'mend' | 'review' | 'close';
  readonly operationId: string;
  /** The text of the candidate, where there is one. */
  readonly patch?: string | undefined;
}

/** The whole input of the next job of a seat. Pure: the same record gives the same job. */
export function composeJob(request: ComposeJob): CodingJobInput {
  const { stage, seat, task } = request;
  const { repository, baseRevision, workspaceRoot, writableRoots } = stage;
  const role = roleOf(seat);
  const { nativeModel } = getAgent(stage, seat);
  const remediation = remediationOf(request);
  return {
    profile: 'coding',
    text: textOf(request),
    coding: {
      ...{ repository, baseRevision, workspaceRoot, role },
      ...(role === 'implement' && writableRoots && { writableRoots }),
      allowedTools: ROLE_PROFILES[role].allowedTools,
      maximumPatchBytes: stage.maximumPatchBytes ?? MAX_PATCH_BYTES,
      maximumChangedFiles: stage.maximumChangedFiles ?? MAX_CHANGED_FILES,
      ...(task === 'review' && { reviewInput: reviewInputOf(request) }),
      ...(remediation && { remediation }),
      ...(task !== 'close' && nativeModel !== undefined && { nativeModel }),
      thread: directiveOf(request),
    },
  };
}

/** Who serves a seat. */
export function getAgent(stage: CodingStage, seat: StageSeat): StageAgent {
  const agent = stage[seat];
  if (!agent) throw new Error(`unreachable: the stage has no ${seat}`);
  return agent;
}

function directiveOf({ stage, record, seat, task, operationId }: ComposeJob): ThreadDirective {
  const { sessionRef, receipt } = getThread(record, seat);
  const { stageId } = stage;
  const { runnerId } = getAgent(stage, seat);
  const base = { runnerId, sessionRef, stageId, operationId };
  if (!receipt) return { ...base, mode: 'new' };
  const mode = task === 'close' ? 'close' : 'resume';
  return { ...base, mode, expectedCheckpoint: receipt.checkpoint };
}

function textOf(request: ComposeJob): string {
  const { stage, record, seat, task, patch } = request;
  if (task === 'close') return CLOSE_TEXT;
  const { receipt, patchDigest } = getThread(record, seat);
  if (task === 'implement') return stage.prompt;
  if (task === 'review') return reviewText({ isAgain: receipt !== undefined });
  if (remediationOf(request)) return REMEDIATION_TEXT;
  const isInWorkspace = patchDigest === record.candidate?.patchDigest;
  const unclaimed = listUnclaimed(record);
  return mendText({
    prompt: receipt ? undefined : stage.prompt,
    patch: isInWorkspace ? undefined : patch,
    findings: unclaimed.length > 0 ? unclaimed : (record.reviews.at(-1)?.findings ?? []),
  });
}

/** Findings belong to the patch that they were made about: a thread that stands on another one gets them as text alone. */
function remediationOf({ record, seat, task }: ComposeJob): Remediation | undefined {
  const priorReview = record.reviews.at(-1);
  const { patchDigest } = getThread(record, seat);
  if (task !== 'mend' || priorReview?.artifactDigest !== patchDigest) return undefined;
  return priorReview && { priorReview };
}

function reviewInputOf({ stage, record, seat, patch = '' }: ComposeJob): ReviewInput {
  const { requirements, repositoryName } = stage;
  const { artifact, patchDigest } = getCandidate(record);
  // The final reviewer is told of nobody's findings but its own.
  const prior = seat === 'reviewer' ? record.reviews.at(-1) : getThread(record, seat).review;
  const priorReview =
    prior?.verdict === 'changes-required' && prior.artifactDigest !== patchDigest
      ? prior
      : undefined;
  const resolvedFindingIds = priorReview?.findings.map(({ findingId }) => findingId) ?? [];
  return {
    reviewId: `review-${record.reviews.length + 1}`,
    repository: repositoryName,
    requirements,
    requirementsDigest: digestOfText(requirements),
    candidatePatch: patch,
    implementation: { ...artifact, resolvedFindingIds },
    ...(priorReview && { priorReview }),
  };
}

function getCandidate({ candidate }: StageRecord): StageCandidate {
  if (!candidate) throw new Error('unreachable: there is nothing to review');
  return candidate;
}
