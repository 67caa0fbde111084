import type { Sha256 } from '../coding-job.js';
import { checkPatch, type PathPolicy } from './check-patch.js';
import { type Git, type GitCommand, hasSucceeded } from './git.js';
import { patchRefused } from './patch-refused.js';
import { digestPatch, mergeSections } from './patch-text.js';
import { listTree } from './read-tree.js';
import { openScratchIndex } from './scratch-index.js';
import { storeWorkTree } from './store-work-tree.js';
import { readRawDiff, readText, type TreeChange } from './tree-change.js';
import type { PatchBounds, Workspace } from './workspace.js';

/** All that a work tree differs in from the base, in the one form that its digest stands for. */
export interface CanonicalPatch {
  readonly outcome: 'changed' | 'no-change';
  readonly patch: string;
  readonly patchDigest: Sha256;
  readonly changedPaths: readonly string[];
  /** The id of the tree that the base becomes. */
  readonly tree: string;
}

/** Which patch is taken. */
export interface PatchRequest {
  readonly workspace: Omit<Workspace, 'tree'>;
  readonly bounds: PatchBounds;
  readonly policy: PathPolicy;
  readonly signal?: AbortSignal | undefined;
}

/** Derives the cumulative patch of a work tree and proves it by applying it. */
export async function derivePatch(
  git: Git,
  request: PatchRequest & { readonly workspace: Workspace },
): Promise<CanonicalPatch> {
  const tree = await storeWorkTree(git, request);
  const derived = await describeTree(git, { ...request, tree });
  if ((await applyToBase(git, { ...request, patch: derived.patch })) === tree) return derived;
  throw patchRefused({ path: '', rule: 'not-canonical', detail: 'it makes another tree' });
}

/** Applies a patch to the base, in no work tree, and proves that it is the canonical one of what it makes. */
export async function applyPatch(
  git: Git,
  request: PatchRequest & { readonly patch: string },
): Promise<CanonicalPatch> {
  const { patch, bounds } = request;
  if (Buffer.byteLength(patch) > bounds.maximumPatchBytes) throw tooLong(bounds);
  const tree = await applyToBase(git, request);
  const derived = await describeTree(git, { ...request, tree });
  if (derived.patch === patch) return derived;
  throw patchRefused({ path: '', rule: 'not-canonical', detail: 'git writes it otherwise' });
}

type TreeRequest = PatchRequest & { readonly tree: string };

async function describeTree(git: Git, request: TreeRequest): Promise<CanonicalPatch> {
  const { workspace: place, tree, bounds, policy, signal } = request;
  const changes = readRawDiff(await git.run(diffTree(request, ['--raw', '-z', '--no-abbrev'])));
  if (changes.length > bounds.maximumChangedFiles) {
    throw patchRefused({ path: '', rule: 'maximum-changed-files', detail: `${changes.length}` });
  }
  const before = await listTree(git, { place, tree: place.baseTree, signal });
  const after = await listTree(git, { place, tree, signal });
  checkPatch({ changes, before, after }, policy);
  const patch = await writePatch(git, { ...request, changes });
  return {
    outcome: changes.length === 0 ? 'no-change' : 'changed',
    patch,
    patchDigest: digestPatch(patch),
    changedPaths: changes.map(({ path }) => path),
    tree,
  };
}

const FORM = [
  '--patch',
  '--binary',
  '--full-index',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--unified=3',
  '--inter-hunk-context=0',
  '--diff-algorithm=myers',
  '--submodule=short',
];

const AS_BINARY = ['-c', 'diff.default.binary=true'];

async function writePatch(
  git: Git,
  request: TreeRequest & { readonly changes: readonly TreeChange[] },
): Promise<string> {
  if (request.changes.length === 0) return '';
  const bytes = await readOutput(git, request, diffTree(request, FORM));
  const text = readText(bytes);
  if (text !== undefined) return text;
  const command = diffTree(request, FORM);
  const args = [...AS_BINARY, ...command.args];
  const merged = mergeSections(bytes, await readOutput(git, request, { ...command, args }));
  if (merged === undefined) throw patchRefused({ path: '', rule: 'path-encoding' });
  if (Buffer.byteLength(merged) > request.bounds.maximumPatchBytes) throw tooLong(request.bounds);
  return merged;
}

async function readOutput(
  git: Git,
  { bounds, signal }: TreeRequest,
  command: GitCommand,
): Promise<Uint8Array> {
  const maxOutputBytes = bounds.maximumPatchBytes;
  const result = await git.attempt({ ...command, maxOutputBytes, signal });
  if (result.truncated) throw tooLong(bounds);
  if (hasSucceeded(result)) return result.stdout;
  throw patchRefused({ path: '', rule: 'not-canonical', detail: result.stderr.slice(0, 500) });
}

function diffTree({ workspace, tree, signal }: TreeRequest, form: readonly string[]): GitCommand {
  const args = ['diff-tree', '-r', '--no-renames', '--ignore-submodules=none', ...form];
  return { args: [...args, workspace.baseTree, tree], place: workspace, signal };
}

async function applyToBase(
  git: Git,
  { workspace, patch, signal }: PatchRequest & { readonly patch: string },
): Promise<string> {
  if (patch === '') return workspace.baseTree;
  const place = workspace;
  await using index = await openScratchIndex(git, { place, tree: workspace.baseTree, signal });
  try {
    const args = ['apply', '--cached', '--binary', '--whitespace=nowarn', '-p1', '-'];
    await index.run(args, { input: patch, failure: 'patch_refused' });
  } catch (error) {
    signal?.throwIfAborted();
    const detail = error instanceof Error ? error.message.slice(0, 500) : undefined;
    throw patchRefused({ path: '', rule: 'not-applicable', detail }, { cause: error });
  }
  return await index.writeTree();
}

function tooLong({ maximumPatchBytes }: PatchBounds) {
  const detail = `more than ${maximumPatchBytes} bytes`;
  return patchRefused({ path: '', rule: 'maximum-patch-bytes', detail });
}
