import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitPlace } from './git.js';

/** A git dir of ours, and the tree that is checked out from it. */
export interface GitDir {
  readonly gitDir: string;
  readonly workTree: string;
  readonly baseRevision: string;
}

/** What could name a program, another place, or another meaning of what is stored. */
const NOT_OURS = [
  'config.worktree',
  'commondir',
  'hooks',
  'info',
  'shallow',
  'modules',
  'worktrees',
  'objects/info/alternates',
  'objects/info/http-alternates',
];

/** The bytes of a file are what is stored, and every diff has one form, whatever a `.gitattributes` says. */
const ATTRIBUTES = '* -text -ident -filter !diff !eol !crlf !working-tree-encoding !merge\n';

/** Where git takes no revision to be: a new git dir holds none yet. */
const UNBORN = 'ref: refs/heads/none\n';

/** Makes an empty git dir for the object format of a revision, to be sealed once it holds that. */
export async function createGitDir(place: GitDir): Promise<void> {
  await mkdir(place.gitDir, { mode: 0o700 });
  await mkdir(join(place.gitDir, 'objects'));
  await mkdir(join(place.gitDir, 'refs'));
  await sealGitDir(place);
  await writeFile(join(place.gitDir, 'HEAD'), UNBORN);
}

/**
 * Writes anew everything of a git dir that steers git. A CLI that is not confined could have written there, so this
 * stands before whatever we do with it.
 */
export async function sealGitDir({ gitDir, workTree, baseRevision }: GitDir): Promise<void> {
  for (const name of [...NOT_OURS, 'config', 'HEAD']) {
    await rm(join(gitDir, name), { recursive: true, force: true });
  }
  await mkdir(join(gitDir, 'info'));
  await writeFile(join(gitDir, 'info', 'attributes'), ATTRIBUTES, { flag: 'wx' });
  await writeFile(join(gitDir, 'config'), describeConfig(workTree, baseRevision), { flag: 'wx' });
  await writeFile(join(gitDir, 'HEAD'), `${baseRevision}\n`, { flag: 'wx' });
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
