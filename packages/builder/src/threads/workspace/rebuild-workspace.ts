import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { applyPatch } from './canonical-patch.js';
import type { PathPolicy } from './check-patch.js';
import type { Git } from './git.js';
import { createGitDir, gitFileOf, sealGitDir } from './git-dir.js';
import { ensurePrivateFolder, removeLeftovers, removeTree } from './private-folder.js';
import type { StagedBundle } from './stage-bundle.js';
import type { PatchBounds, Workspace } from './workspace.js';
import { workspaceRefused } from './workspace-refused.js';

/** What a workspace is made of. */
export interface RebuildRequest {
  /** The thread's own folder: the same for each of its jobs, and for nothing else. */
  readonly root: string;
  readonly bundle: StagedBundle;
  readonly baseRevision: string;
  /** What stands on top of the base: an implementer's stored patch, or the candidate; nothing when absent. */
  readonly patch?: string | undefined;
  readonly bounds: PatchBounds;
  /** Judges the patch; all of the repository but what is protected when absent. */
  readonly policy?: PathPolicy | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Empties a thread's place and makes the repository there anew: the base, then the patch. */
export async function rebuildWorkspace(git: Git, request: RebuildRequest): Promise<Workspace> {
  const { root, baseRevision, signal } = request;
  if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(baseRevision)) {
    throw workspaceRefused('The base is no revision.', { baseRevision });
  }
  const places = {
    workTree: join(root, 'work'),
    scratch: join(root, 'scratch'),
    gitDir: join(root, 'repository.git'),
    baseRevision,
  };
  await emptyPlaces(root, places);
  await createGitDir(places);
  const baseTree = await unpackBase(git, { ...request, gitDir: places.gitDir });
  await sealGitDir(places);
  const tree = await applyStoredPatch(git, { ...request, workspace: { ...places, baseTree } });
  const workspace = { ...places, baseTree, tree };
  await checkOut(git, { workspace, signal });
  return workspace;
}

async function emptyPlaces(
  root: string,
  { workTree, scratch, gitDir }: Pick<Workspace, 'workTree' | 'scratch' | 'gitDir'>,
): Promise<void> {
  await ensurePrivateFolder(root);
  await removeLeftovers(root);
  for (const place of [workTree, scratch, gitDir]) await removeTree(place);
  for (const place of [workTree, scratch]) await mkdir(place, { mode: 0o700 });
}

/** Takes the bundle's objects and none of its references: the base is the only revision that counts. */
async function unpackBase(
  git: Git,
  { gitDir, bundle, baseRevision, signal }: RebuildRequest & { readonly gitDir: string },
): Promise<string> {
  const place = { gitDir };
  await git.run({ args: ['bundle', 'unbundle', bundle.path], place, signal });
  const input = `${baseRevision}\n${baseRevision}^{tree}\n`;
  const checked = await git.run({ args: ['cat-file', '--batch-check'], place, input, signal });
  const [commit, tree] = checked.toString('utf8').split('\n');
  const baseTree = tree?.split(' ')[0];
  if (commit?.startsWith(`${baseRevision} commit `) && tree?.startsWith(`${baseTree} tree `)) {
    return baseTree ?? '';
  }
  throw workspaceRefused('The base is no commit of the bundle.', { baseRevision });
}

async function applyStoredPatch(
  git: Git,
  request: RebuildRequest & { readonly workspace: Omit<Workspace, 'tree'> },
): Promise<string> {
  const { workspace, patch = '', bounds, signal } = request;
  if (patch === '') return workspace.baseTree;
  const policy = request.policy ?? { writableRoots: ['.'] };
  return (await applyPatch(git, { workspace, patch, bounds, policy, signal })).tree;
}

interface CheckOutRequest {
  readonly workspace: Workspace;
  readonly signal: AbortSignal | undefined;
}

/** The index is the base's in the end, so that a CLI's own `git diff` shows all that was changed. */
async function checkOut(git: Git, { workspace, signal }: CheckOutRequest): Promise<void> {
  const { workTree, tree, baseTree } = workspace;
  const place = { ...workspace, indexFile: join(workspace.gitDir, 'index') };
  await git.run({ args: ['read-tree', '--reset', '-u', tree], place, signal });
  if (tree !== baseTree) await git.run({ args: ['read-tree', '--reset', baseTree], place, signal });
  await writeFile(join(workTree, '.git'), gitFileOf(workspace), { flag: 'wx', mode: 0o600 });
}
