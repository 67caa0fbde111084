import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { foldSegment } from './fold-path.js';
import type { Git } from './git.js';
import { gitFileOf, sealGitDir } from './git-dir.js';
import { patchRefused } from './patch-refused.js';
import { joinBytes } from './private-folder.js';
import { openScratchIndex, type ScratchIndex } from './scratch-index.js';
import { readFields } from './tree-change.js';
import type { PatchBounds, Workspace } from './workspace.js';

/** Which work tree is stored, and how much of it. */
export interface StoreRequest {
  readonly workspace: Workspace;
  readonly bounds: PatchBounds;
  readonly signal?: AbortSignal | undefined;
}

/** Its name, and the short one that some file systems give it besides. */
const GIT_NAMES = new Set(['.git', 'git~1']);

const DEFAULT_MAXIMUM_CHANGED_BYTES = 64 * 1024 * 1024;

/** Stores what stands in the work tree without what is ignored, and tells the tree's id. */
export async function storeWorkTree(git: Git, request: StoreRequest): Promise<string> {
  const { workspace, signal } = request;
  await sealGitDir(workspace);
  await checkGitFile(workspace);
  await using index = await openScratchIndex(git, {
    place: workspace,
    tree: workspace.tree,
    signal,
  });
  const gitlinks = await takeOutGitlinks(index, workspace);
  await checkAmount(index, request);
  await addAll(index, signal);
  if (gitlinks.length > 0) {
    const input = joinFields(gitlinks.map(({ id, path }) => [`160000 ${id}\t`, path]));
    await index.run(['update-index', '-z', '--index-info'], { input });
  }
  return await index.writeTree();
}

/** The CLI's own git goes where this file says: a job that changed it wanted another place to be read. */
async function checkGitFile(workspace: Workspace): Promise<void> {
  const path = join(workspace.workTree, '.git');
  const found = await lstat(path).catch(() => undefined);
  const isOurs = found?.isFile() === true && found.size < 10_000;
  if (isOurs && (await readFile(path, 'utf8')) === gitFileOf(workspace)) return;
  throw patchRefused({ path: '.git', rule: 'protected-path', detail: '.git' });
}

/** Git takes some names and some things in no repository, such as a pipe where a file was. */
async function addAll(index: ScratchIndex, signal: AbortSignal | undefined): Promise<void> {
  try {
    await index.run(['add', '--all']);
  } catch (error) {
    signal?.throwIfAborted();
    const detail = error instanceof Error ? error.message.slice(0, 500) : undefined;
    throw patchRefused({ path: '', rule: 'not-storable', detail }, { cause: error });
  }
}

interface Gitlink {
  readonly id: string;
  readonly path: Buffer;
}

/**
 * Git looks into a submodule that stands in its index, and reads the configuration there, which a job can write. So none
 * stands there: each must be the empty folder that it was.
 */
async function takeOutGitlinks(
  index: ScratchIndex,
  { tree, workTree }: Workspace,
): Promise<readonly Gitlink[]> {
  const listing = await index.run(['ls-tree', '-r', '-z', '--full-tree', tree]);
  const gitlinks = readFields(listing).flatMap((field): Gitlink[] => {
    const tab = field.indexOf('\t');
    const [mode, , id = ''] = field.toString('latin1', 0, tab).split(' ');
    return mode === '160000' ? [{ id, path: field.subarray(tab + 1) }] : [];
  });
  for (const { path } of gitlinks) await checkUntouched(path, workTree);
  if (gitlinks.length > 0) {
    const input = joinFields(gitlinks.map(({ path }) => [path]));
    await index.run(['update-index', '--force-remove', '-z', '--stdin'], { input });
  }
  return gitlinks;
}

async function checkUntouched(path: Buffer, workTree: string): Promise<void> {
  const folder = joinBytes(workTree, path);
  const found = await lstat(folder).catch(() => undefined);
  if (found?.isDirectory() && (await readdir(folder)).length === 0) return;
  throw patchRefused({ path: path.toString('utf8'), rule: 'gitlink' });
}

/** Looks before anything is stored: a file that a turn made could fill the disk. */
async function checkAmount(index: ScratchIndex, { workspace, bounds }: StoreRequest) {
  const { maximumChangedFiles, maximumChangedBytes = DEFAULT_MAXIMUM_CHANGED_BYTES } = bounds;
  const args = ['ls-files', '-z', '--others', '--modified', '--deleted', '--exclude-standard'];
  const paths = new Map(
    readFields(await index.run(args)).map((path) => [path.toString('latin1'), path]),
  );
  let bytes = 0;
  for (const path of paths.values()) {
    checkName(path.toString('utf8'));
    bytes += (await lstat(joinBytes(workspace.workTree, path)).catch(() => undefined))?.size ?? 0;
  }
  if (paths.size > maximumChangedFiles) {
    throw patchRefused({ path: '', rule: 'maximum-changed-files', detail: `${paths.size}` });
  }
  if (bytes > maximumChangedBytes) {
    throw patchRefused({ path: '', rule: 'maximum-changed-bytes', detail: `${bytes}` });
  }
}

/** A folder stands alone in the listing where it is a repository; no other name of `.git` is one of a file. */
function checkName(path: string): void {
  if (path.endsWith('/')) throw patchRefused({ path, rule: 'gitlink' });
  const isOfGit = path.split('/').some((segment) => GIT_NAMES.has(foldSegment(segment)));
  if (isOfGit) throw patchRefused({ path, rule: 'protected-path', detail: '.git' });
}

function joinFields(fields: readonly (readonly (string | Buffer)[])[]): Buffer {
  return Buffer.concat(
    fields.flatMap((parts) => [...parts.map((part) => Buffer.from(part)), Buffer.of(0)]),
  );
}
