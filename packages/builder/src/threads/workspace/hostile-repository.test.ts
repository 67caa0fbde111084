import { lstat, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProcessForBytes } from '@holdfast/agent';
import { describe, expect, it } from 'vitest';
import { hostileConfig, plantProgram, poison } from './__fixtures__/hostile-program.js';
import { openThread, put, type TestThread } from './__fixtures__/job.js';
import { type FileSpec, gitFile } from './__fixtures__/repository.js';
import type { Workspace } from './workspace.js';

const attributes: FileSpec = {
  path: '.gitattributes',
  content: '[attr]mine filter=evil diff=evil\n* filter=evil diff=evil ident\n*.md mine\n',
};
const readme: FileSpec = { path: 'README.md', content: '$Id$\n' };

/** Git as anybody would call it. */
async function addPlainly({ gitDir, workTree }: Workspace): Promise<void> {
  await runProcessForBytes({
    file: gitFile,
    args: [`--git-dir=${gitDir}`, `--work-tree=${workTree}`, 'add', '--all'],
    env: { PATH: process.env['PATH'] ?? '', HOME: workTree },
    workingDir: workTree,
  });
}

const isThere = async (path: string) => (await lstat(path).catch(() => undefined)) !== undefined;

async function refusesGitlink(thread: TestThread, workspace: Workspace, path: string) {
  await expect(thread.derive(workspace)).rejects.toMatchObject({
    kind: 'patch_refused',
    details: { evidence: { path, rule: 'gitlink' } },
  });
}

describe('a hostile repository', () => {
  it('runs nothing through attributes, configuration or hooks, though plain git would', async () => {
    await using thread = await openThread([attributes, readme]);
    const { program, marker } = await plantProgram(thread.place.folder);
    const workspace = await thread.rebuild();
    await put(workspace.workTree, [{ path: 'README.md', content: 'changed\n' }]);
    await poison(workspace, program);
    await addPlainly(workspace);
    expect(await readFile(marker, 'utf8')).toContain('ran');
    await rm(marker);

    await poison(workspace, program);
    const { patch, changedPaths } = await thread.derive(workspace);
    expect(changedPaths).toEqual(['README.md']);
    await thread.rebuild(patch);
    expect(await isThere(marker)).toBe(false);
  });

  it('changes no form of a patch and no byte of a file by its attributes', async () => {
    await using plain = await openThread([readme]);
    const strange = { path: '.gitattributes', content: '* ident eol=crlf diff=cpp\n*.md -diff\n' };
    await using hostile = await openThread([strange, readme]);
    const patches = [];
    for (const thread of [plain, hostile]) {
      const workspace = await thread.rebuild();
      expect(await readFile(join(workspace.workTree, 'README.md'), 'utf8')).toBe('$Id$\n');
      await put(workspace.workTree, [{ path: 'README.md', content: 'int main() {\r\n' }]);
      patches.push((await thread.derive(workspace)).patch);
    }
    expect(patches[1]).toBe(patches[0]);
  });

  it('opens no submodule, and refuses one that a job filled', async () => {
    const revision = '1'.repeat(40);
    const sub: FileSpec = { path: 'sub', content: revision, mode: '160000' };
    const modules = {
      path: '.gitmodules',
      content: '[submodule "s"]\n\tpath = sub\n\turl = ext::x\n',
    };
    await using thread = await openThread([modules, readme, sub]);
    const workspace = await thread.rebuild();
    expect((await thread.derive(workspace)).outcome).toBe('no-change');

    const { program, marker } = await plantProgram(thread.place.folder);
    await put(join(workspace.workTree, 'sub', '.git'), [
      { path: 'HEAD', content: `${'2'.repeat(40)}\n` },
      { path: 'config', content: hostileConfig(program) },
      { path: 'objects/info/packs' },
      { path: 'refs/heads/.keep' },
    ]);
    await refusesGitlink(thread, workspace, 'sub');
    expect(await isThere(marker)).toBe(false);
  });

  it('refuses a repository within the repository', async () => {
    await using thread = await openThread([readme]);
    const workspace = await thread.rebuild();
    await put(join(workspace.workTree, 'inner', '.git'), [
      { path: 'HEAD', content: 'ref: refs/heads/main\n' },
      { path: 'objects/info/packs' },
      { path: 'refs/heads/.keep' },
    ]);
    await refusesGitlink(thread, workspace, 'inner/');
  });

  it('refuses a changed or missing .git of the work tree', async () => {
    await using thread = await openThread([readme]);
    const { workTree, ...rest } = await thread.rebuild();
    const evidence = { path: '.git', rule: 'protected-path', detail: '.git' };
    for (const content of ['gitdir: elsewhere\n', undefined]) {
      await rm(join(workTree, '.git'));
      if (content) await writeFile(join(workTree, '.git'), content);
      const derived = thread.derive({ workTree, ...rest });
      await expect(derived).rejects.toMatchObject({ kind: 'patch_refused', details: { evidence } });
    }
  });

  it('refuses a git dir or objects that are no folders of ours any more', async () => {
    await using thread = await openThread([readme]);
    for (const name of ['', 'objects']) {
      const workspace = await thread.rebuild();
      const path = join(workspace.gitDir, name);
      await rename(path, `${path}.moved`);
      await symlink(`${path}.moved`, path);
      const derived = thread.derive(workspace);
      await expect(derived).rejects.toMatchObject({
        kind: 'workspace_refused',
        details: { evidence: { path: path.replace(/\/$/, '') } },
      });
    }
  });

  it('refuses what git stores in no repository: a pipe where a file was, a name of its own', async () => {
    await using thread = await openThread([readme]);
    const { workTree, ...rest } = await thread.rebuild();
    await rm(join(workTree, 'README.md'));
    const env = { PATH: process.env['PATH'] ?? '' };
    const args = ['-c', 'mkfifo README.md'];
    await runProcessForBytes({ file: '/bin/sh', args, env, workingDir: workTree });
    await expect(thread.derive({ workTree, ...rest })).rejects.toMatchObject({
      kind: 'patch_refused',
      details: { evidence: { path: '', rule: 'not-storable' } },
    });
    await rm(join(workTree, 'README.md'));
    await put(workTree, [{ path: 'inner/.GIT/config', content: 'x\n' }]);
    await expect(thread.derive({ workTree, ...rest })).rejects.toMatchObject({
      kind: 'patch_refused',
      details: { evidence: { path: 'inner/.GIT/config', rule: 'protected-path' } },
    });
  });

  it('writes through no link of the base', async () => {
    await using thread = await openThread([
      readme,
      { path: 'out', content: '../../outside', mode: '120000' },
    ]);
    const outside = join(thread.place.folder, 'outside');
    await mkdir(outside);
    const { patch } = await thread.derive(await withFile(thread, 'inside/x'));
    const through = patch.replaceAll('inside/x', 'out/x');
    await expect(thread.rebuild(through)).rejects.toMatchObject({ kind: 'patch_refused' });
    expect(await isThere(join(outside, 'x'))).toBe(false);
  });
});

async function withFile(thread: TestThread, path: string): Promise<Workspace> {
  const workspace = await thread.rebuild();
  await put(workspace.workTree, [{ path, content: 'x\n' }]);
  return workspace;
}
