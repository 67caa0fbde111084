import { createHash } from 'node:crypto';
import type { HandleJson } from '@holdfast/provider-core/certification';
import type { CodingEnd, ReviewOfAgent } from './coding-command.js';
import type { BundledRepository } from './git-bundle.js';
import { type Role, runnerIdOf } from './thread-bench.js';

/** One conversation of a stage. */
export interface Conversation {
  readonly role: Role;
  readonly sessionRef: string;
  readonly stageId: string;
  /** Of its last receipt; absent before the first job. */
  readonly checkpoint?: string | undefined;
}

/** What a job is asked. */
export interface JobParts {
  readonly repository: BundledRepository;
  readonly conversation: Conversation;
  readonly operationId: string;
  readonly text: string;
  readonly isClose?: boolean;
  /** A reviewer's: what it reviews. */
  readonly candidate?: CodingEnd | undefined;
  readonly reviewId?: string;
  /** The review before: for a reviewer what was found, for an implementer what is to be mended. */
  readonly priorReview?: ReviewOfAgent | undefined;
}

/** What a change is judged by. */
export const REQUIREMENTS = 'src/greeting.txt greets the world, and its words are spelt right.';

const TOOLS = {
  implement: ['fs.read', 'fs.write', 'process.exec'],
  review: ['fs.read', 'process.exec'],
};

/** The whole input of one job, as a workflow would submit it. */
export function composeInput(parts: JobParts): HandleJson {
  const { repository, conversation, text, isClose = false, priorReview } = parts;
  const { role } = conversation;
  const isMend = role === 'implement' && !isClose && priorReview !== undefined;
  return {
    profile: 'coding',
    text,
    coding: {
      repository: repository.repository,
      baseRevision: repository.baseRevision,
      workspaceRoot: '/workspace/repo',
      role,
      allowedTools: TOOLS[role],
      maximumPatchBytes: 131_072,
      maximumChangedFiles: 64,
      ...(role === 'review' && !isClose && { reviewInput: reviewInputOf(parts) }),
      ...(isMend && { remediation: { priorReview } }),
      thread: directiveOf(parts),
    },
  };
}

function directiveOf({ conversation, operationId, isClose = false }: JobParts) {
  const { role, sessionRef, stageId, checkpoint } = conversation;
  const base = { runnerId: runnerIdOf(role), sessionRef, stageId, operationId };
  if (checkpoint === undefined) return { ...base, mode: 'new' };
  return { ...base, mode: isClose ? 'close' : 'resume', expectedCheckpoint: checkpoint };
}

function reviewInputOf({ candidate, reviewId, priorReview }: JobParts) {
  return {
    reviewId,
    repository: 'example/greetings',
    requirements: REQUIREMENTS,
    requirementsDigest: `sha256:${createHash('sha256').update(REQUIREMENTS).digest('hex')}`,
    candidatePatch: candidate?.patch?.patch,
    implementation: candidate?.artifact,
    ...(priorReview && { priorReview }),
  };
}
