import { existsSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { RepositoryBundle } from '../../coding-job.js';
import { createGit, type Git } from '../git.js';
import { createGitDir } from '../git-dir.js';

/** One file of a repository that a test makes. */
export interface FileSpec {
  readonly path: string | Buffer;
  readonly content?: string | Uint8Array;
  /** `100644` when absent; for `160000` the content is a revision. */
  readonly mode?: '100644' | '100755' | '120000' | '160000';
}

/** A folder of a test with a git, which makes repositories. */
export interface TestPlace extends AsyncDisposable {
  readonly folder: string;
  readonly git: Git;
  /** A bundle with one commit. */
  readonly createBundle: (files: readonly FileSpec[]) => Promise<TestBundle>;
  /** The id of the tree of exactly these files. */
  readonly treeOf: (files: readonly FileSpec[]) => Promise<string>;
}

/** A bundle as a job declares it. */
export interface TestBundle {
  readonly bundle: RepositoryBundle;
  readonly allowedPrefix: string;
  readonly baseRevision: string;
}

/** The git of this machine, wherever it is. */
export const gitFile = findOnPath('git');

export const testGit = createGit({ file: gitFile });

function findOnPath(name: string): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const file = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (!file) throw new Error(`${name} is not on PATH.`);
  return file;
}

export async function openTestPlace(objectFormat: 'sha1' | 'sha256' = 'sha1'): Promise<TestPlace> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-')));
  const gitDir = join(folder, 'source.git');
  const noRevision = '0'.repeat(objectFormat === 'sha1' ? 40 : 64);
  await createGitDir({ gitDir, workTree: folder, baseRevision: noRevision });
  let count = 0;
  const treeOf: TestPlace['treeOf'] = async (files) => {
    count += 1;
    return await writeTree({ gitDir, blobs: join(folder, `blobs-${count}`) }, files);
  };
  return {
    folder,
    git: testGit,
    treeOf,
    createBundle: async (files) => bundleTree({ folder, gitDir, tree: await treeOf(files) }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function writeTree(
  { gitDir, blobs }: { readonly gitDir: string; readonly blobs: string },
  files: readonly FileSpec[],
): Promise<string> {
  const stored = files.filter(({ mode }) => mode !== '160000');
  await mkdir(blobs);
  const names = stored.map((_, at) => join(blobs, `${at}`));
  for (const [at, { content = '' }] of stored.entries()) await writeFile(names[at] ?? '', content);
  const args = ['hash-object', '-w', '--no-filters', '--stdin-paths'];
  const hashed = await testGit.run({ args, place: { gitDir }, input: names.map((name) => `${name}\n`).join('') });
  const ids = hashed.toString('utf8').split('\n');
  const input = Buffer.concat(
    files.map((file) => {
      const { path, content = '', mode = '100644' } = file;
      const id = mode === '160000' ? content : ids[stored.indexOf(file)];
      return Buffer.concat([Buffer.from(`${mode} ${id}\t`), Buffer.from(path), Buffer.of(0)]);
    }),
  );
  const place = { gitDir, indexFile: join(blobs, 'index') };
  await testGit.run({ args: ['update-index', '-z', '--index-info'], place, input });
  return (await testGit.run({ args: ['write-tree', '--missing-ok'], place })).toString().trim();
}

interface BundleRequest {
  readonly folder: string;
  readonly gitDir: string;
  readonly tree: string;
}

async function bundleTree({ folder, gitDir, tree }: BundleRequest): Promise<TestBundle> {
  const place = { gitDir };
  const who = ['-c', 'user.name=T', '-c', 'user.email=t@example.org'];
  const commit = await testGit.run({ args: [...who, 'commit-tree', '-m', 'base', tree], place });
  const baseRevision = commit.toString('utf8').trim();
  await testGit.run({ args: ['update-ref', 'refs/heads/main', baseRevision], place });
  const path = join(folder, `${baseRevision}.bundle`);
  await testGit.run({ args: ['bundle', 'create', path, 'refs/heads/main'], place });
  const bytes = await readFile(path);
  return {
    baseRevision,
    allowedPrefix: pathToFileURL(`${folder}/`).href,
    bundle: {
      artifactUri: pathToFileURL(path).href,
      digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
      size: bytes.byteLength,
      mediaType: 'application/x-git-bundle',
    },
  };
}
