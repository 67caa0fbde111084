import { lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitPlace } from './git.js';
import { deleteTree, joinBytes } from './private-folder.js';
import { workspaceRefused } from './workspace-refused.js';

/** A git dir of ours, and the tree that is checked out from it. */
export interface GitDir {
  readonly gitDir: string;
  readonly workTree: string;
  readonly baseRevision: string;
}

/** What a git dir keeps when it is sealed: all else could name a program, another place, or another meaning of what is stored. */
const KEPT = new Set(['objects', 'index']);

/** What beside the objects tells where more of them are, and how. */
const OBJECT_LISTS = ['info', 'pack/multi-pack-index'];

/** The bytes of a file are what is stored, and every diff has one form, whatever a `.gitattributes` says. */
const ATTRIBUTES = '* -text -ident -filter !diff !eol !crlf !working-tree-encoding !merge\n';

/** Where git takes no revision to be: a new git dir holds none yet. */
const UNBORN = 'ref: refs/heads/none\n';

/** Makes an empty git dir for the object format of a revision, to be sealed once it holds that. */
export async function createGitDir(place: GitDir): Promise<void> {
  await mkdir(place.gitDir, { mode: 0o700 });
  await mkdir(join(place.gitDir, 'objects'));
  await sealGitDir(place);
  await writeFile(join(place.gitDir, 'HEAD'), UNBORN);
}

/**
 * Writes anew everything of a git dir that steers git. A CLI that is not confined could have written there, so this
 * stands before whatever we do with it.
 */
export async function sealGitDir({ gitDir, workTree, baseRevision }: GitDir): Promise<void> {
  await checkFolder(gitDir);
  await checkFolder(join(gitDir, 'objects'));
  for (const name of await readdir(gitDir, { encoding: 'buffer' })) {
    if (!KEPT.has(name.toString('latin1'))) await deleteTree(joinBytes(gitDir, name));
  }
  for (const name of OBJECT_LISTS) await deleteTree(join(gitDir, 'objects', name));
  await mkdir(join(gitDir, 'info'));
  await mkdir(join(gitDir, 'refs'));
  await writeFile(join(gitDir, 'info', 'attributes'), ATTRIBUTES, { flag: 'wx' });
  await writeFile(join(gitDir, 'config'), describeConfig(workTree, baseRevision), { flag: 'wx' });
  await writeFile(join(gitDir, 'HEAD'), `${baseRevision}\n`, { flag: 'wx' });
}

/** A link there would have us write elsewhere. */
async function checkFolder(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isDirectory()) throw workspaceRefused(`${path} is no folder any more.`, { path });
}

function describeConfig(workTree: string, baseRevision: string): string {
  const isSha256 = baseRevision.length === 64;
  const quoted = workTree.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return [
    '[core]',
    `\trepositoryformatversion = ${isSha256 ? 1 : 0}`,
    '\tbare = false',
    '\thooksPath = /dev/null',
    '\tfsmonitor = false',
    `\tworktree = "${quoted}"`,
    '[gc]',
    '\tauto = 0',
    ...(isSha256 ? ['[extensions]', '\tobjectFormat = sha256'] : []),
    '',
  ].join('\n');
}

/** Where a CLI's own git finds the repository. Ours is told the place each time. */
export function gitFileOf({ gitDir }: GitPlace): string {
  return `gitdir: ${gitDir}\n`;
}
