import { lstat, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { codingBench } from './__fixtures__/coding-bench.js';
import { openRoots } from './open-roots.js';

async function workTreeOf(links: Readonly<Record<string, string>>) {
  const workTree = await mkdtemp(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rm(workTree, { recursive: true, force: true }));
  await mkdir(join(workTree, 'src'));
  await writeFile(join(workTree, 'README.md'), 'one\n');
  for (const [path, target] of Object.entries(links)) await symlink(target, join(workTree, path));
  return workTree;
}

describe('the writable roots of a job', () => {
  it.each([
    ['out of the repository', 'out', '../../etc'],
    ['to another place in it', 'in', 'src'],
    ['to nowhere', 'dangling', 'none'],
  ])('are refused where one leads by a link %s', async (_where, name, target) => {
    const workTree = await workTreeOf({ [name]: target, 'src/link': target });
    for (const root of [name, `${name}/below`, 'src/link']) {
      await expect(openRoots(workTree, ['src', root])).rejects.toMatchObject({
        kind: 'workspace_refused',
        details: { evidence: { root } },
      });
    }
  });

  it('are refused where one stands below a file', async () => {
    const workTree = await workTreeOf({});
    const refusal = { kind: 'workspace_refused' };
    await expect(openRoots(workTree, ['README.md/below'])).rejects.toMatchObject(refusal);
  });

  it('are there when the CLI begins, and a file may be one', async () => {
    const workTree = await workTreeOf({});
    await openRoots(workTree, ['.', 'src', 'README.md', 'new/deep']);
    expect((await lstat(join(workTree, 'new/deep'))).isDirectory()).toBe(true);
    expect((await lstat(join(workTree, 'README.md'))).isFile()).toBe(true);
  });

  it('are looked at before the CLI begins and before anything is claimed', async () => {
    const bench = await codingBench();
    const first = await bench.run(bench.job({}, { writableRoots: ['/workspace/repo/new'] }));
    expect((await lstat(join(bench.root, 'work/new'))).isDirectory()).toBe(true);
    expect(first.outcome).toBe('no-change');
  });
});
