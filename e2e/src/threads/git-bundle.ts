import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';

/** A repository as a coding job names it. */
export interface BundledRepository {
  readonly repository: {
    readonly artifactUri: string;
    readonly digest: string;
    readonly size: number;
    readonly mediaType: 'application/x-git-bundle';
  };
  readonly baseRevision: string;
  readonly repositoryUriPrefix: string;
  /** Where the repository and its bundle stand. */
  readonly folder: string;
}

/** Makes a repository with one commit of these files, and its bundle beside it. */
export async function bundleRepository(
  folder: string,
  files: Readonly<Record<string, string>>,
): Promise<BundledRepository> {
  const source = join(folder, 'source');
  const path = join(folder, 'repository.bundle');
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(source, name)), { recursive: true });
    await writeFile(join(source, name), content);
  }
  const git = async (...args: readonly string[]) => (await runGit(source, args)).trim();
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', '--all');
  await git('commit', '--quiet', '--message=base');
  const baseRevision = await git('rev-parse', 'HEAD');
  await git('bundle', 'create', '--quiet', path, 'main');
  const bytes = await readFile(path);
  return {
    folder,
    baseRevision,
    repositoryUriPrefix: pathToFileURL(`${folder}/`).href,
    repository: {
      artifactUri: pathToFileURL(path).href,
      digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
      size: bytes.byteLength,
      mediaType: 'application/x-git-bundle',
    },
  };
}

/** What a patch makes of the base, file by file. */
export async function readPatched(
  folder: string,
  patch: string,
  names: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const source = join(folder, 'source');
  await runGit(source, ['apply', '--index', '-'], patch);
  const entries = names.map(async (name) => [name, await readFile(join(source, name), 'utf8')]);
  const found = await Promise.all(entries);
  await runGit(source, ['reset', '--quiet', '--hard']);
  return Object.fromEntries(found);
}

async function runGit(cwd: string, args: readonly string[], input?: string): Promise<string> {
  const who = ['-c', 'user.name=Somebody', '-c', 'user.email=somebody@example.org'];
  const { stdout } = await execa('git', [...who, ...args], {
    cwd,
    stripFinalNewline: false,
    ...(input !== undefined && { input }),
    env: { PATH: process.env['PATH'] ?? '', HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' },
    extendEnv: false,
  });
  return stdout;
}
