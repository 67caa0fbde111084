import { join } from 'node:path';
import type { ReviewInput } from '../coding-job.js';
import type { PathPolicy } from '../workspace/check-patch.js';
import { removeTree } from '../workspace/private-folder.js';
import { proveCandidate } from '../workspace/prove-candidate.js';
import { rebuildWorkspace } from '../workspace/rebuild-workspace.js';
import { type StagedBundle, stageBundle } from '../workspace/stage-bundle.js';
import type { PatchBounds, Workspace } from '../workspace/workspace.js';
import type { ValidatedJob } from './job-run.js';
import type { JobThread } from './job-thread.js';
import { openRoots } from './open-roots.js';

/** Rebuilds the job's repository at its thread's place: the base with the stored patch, or with the candidate. */
export async function prepareWorkspace(job: ValidatedJob, thread: JobThread): Promise<Workspace> {
  const { coding, enter, git, root, signal } = job;
  const { reviewInput, baseRevision } = coding;
  const inputs = join(root, 'inputs');
  try {
    const bundle = await stage(job, inputs);
    enter('rebuild_workspace');
    const workspace = await rebuildWorkspace(git, {
      ...{ root, bundle, signal },
      baseRevision: baseRevision.toLowerCase(),
      patch: reviewInput?.candidatePatch ?? thread.patch?.patch,
      bounds: boundsOf(job),
      policy: policyOf(job),
    });
    if (reviewInput) await proveReviewed(job, workspace, reviewInput, signal);
    else await openRoots(workspace.workTree, job.writableRoots);
    return workspace;
  } finally {
    await removeTree(inputs);
  }
}

async function stage(job: ValidatedJob, folder: string): Promise<StagedBundle> {
  const { spec, coding, enter, signal } = job;
  enter('check_bundle');
  signal.throwIfAborted();
  enter('stage_bundle');
  const allowedPrefix = spec.repositoryUriPrefix;
  return await stageBundle({ bundle: coding.repository, allowedPrefix, folder, signal });
}

/** Proves that what stands in the work tree is the candidate: before a review, and after it. */
export async function proveReviewed(
  job: ValidatedJob,
  workspace: Workspace,
  { candidatePatch: candidate }: ReviewInput,
  signal?: AbortSignal,
): Promise<void> {
  const bounds = boundsOf(job);
  await proveCandidate(job.git, { workspace, bounds, policy: policyOf(job), candidate, signal });
}

/** How much the job's patch may be. */
export function boundsOf({ coding }: ValidatedJob): PatchBounds {
  const { maximumPatchBytes, maximumChangedFiles } = coding;
  return { maximumPatchBytes, maximumChangedFiles };
}

/** What the job's patch may touch. */
export function policyOf({ writableRoots }: ValidatedJob): PathPolicy {
  return { writableRoots };
}
