import { CodingThreadError, isCodingThreadError } from '../coding-thread-error.js';
import { type CanonicalPatch, derivePatch, type PatchRequest } from './canonical-patch.js';
import type { Git } from './git.js';
import { openScratchIndex } from './scratch-index.js';
import { readFields } from './tree-change.js';
import type { Workspace } from './workspace.js';

/** Which candidate must stand in a reviewer's work tree. */
export interface CandidateRequest extends PatchRequest {
  readonly workspace: Workspace;
  readonly candidate: string;
}

/** Proves, before a review and after it, that the work tree is the candidate and nothing besides. */
export async function proveCandidate(git: Git, request: CandidateRequest): Promise<CanonicalPatch> {
  const { workspace, candidate } = request;
  const found = await deriveOrRefuse(git, request);
  if (found.patch !== candidate || found.tree !== workspace.tree) {
    throw candidateChanged({ changedPaths: [...found.changedPaths] });
  }
  const strangers = await findStrangers(git, request);
  if (strangers.length > 0) throw candidateChanged({ strangers: strangers.slice(0, 20) });
  return found;
}

/** A tree that no patch is taken of cannot be the candidate, which was taken. */
async function deriveOrRefuse(git: Git, request: CandidateRequest): Promise<CanonicalPatch> {
  try {
    return await derivePatch(git, request);
  } catch (error) {
    if (!isCodingThreadError(error) || error.kind !== 'patch_refused') throw error;
    throw candidateChanged({ reason: error.message }, { cause: error });
  }
}

/** What stands there and is ignored, so that no patch would show it: a build could still read it. */
async function findStrangers(
  git: Git,
  { workspace, signal }: CandidateRequest,
): Promise<readonly string[]> {
  const { tree } = workspace;
  await using index = await openScratchIndex(git, { place: workspace, tree, signal });
  const output = await index.run(['ls-files', '-z', '--others']);
  return readFields(output).map((path) => path.toString('utf8'));
}

function candidateChanged(
  evidence: Record<string, string | readonly string[]>,
  options?: ErrorOptions,
): CodingThreadError {
  const message = 'The work tree is not the candidate that is reviewed.';
  return new CodingThreadError('candidate_changed', message, { evidence }, options);
}
