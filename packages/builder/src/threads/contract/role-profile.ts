import type { CodingRequest, CodingRole } from '../coding-job.js';

/** What a role is, to its last part: callers choose the role, and none of these. */
export interface RoleProfile {
  readonly profileId: string;
  readonly modelAlias: string;
  readonly workspaceAuthority: 'bounded-write' | 'review-read-only';
  readonly allowedTools: readonly string[];
}

/** The only place a reviewer may write to. */
export const REVIEW_SCRATCH = '/workspace/review-scratch';

/** The two roles. */
export const ROLE_PROFILES: Readonly<Record<CodingRole, RoleProfile>> = {
  implement: {
    profileId: 'coding-implement-v1',
    modelAlias: 'coding-implementer',
    workspaceAuthority: 'bounded-write',
    allowedTools: ['fs.read', 'fs.write', 'process.exec'],
  },
  review: {
    profileId: 'coding-review-v1',
    modelAlias: 'coding-reviewer',
    workspaceAuthority: 'review-read-only',
    allowedTools: ['fs.read', 'process.exec'],
  },
};

/** Where a job may write: what it asks for as an implementer, the scratch folder as a reviewer. */
export function writableRootsOf({
  role = 'implement',
  writableRoots,
  workspaceRoot,
}: CodingRequest): readonly string[] {
  return role === 'review' ? [REVIEW_SCRATCH] : (writableRoots ?? [workspaceRoot]);
}
