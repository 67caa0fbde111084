import { describe, expect, it } from 'vitest';
import { openThread, put } from './__fixtures__/job.js';
import type { FileSpec } from './__fixtures__/repository.js';
import { checkPatch, type PathPolicy } from './check-patch.js';
import type { PatchRule } from './patch-refused.js';
import { leavesRoot } from './tree-links.js';

type Files = Readonly<Record<string, string>>;

/** A link is a file whose text begins with an arrow. */
function listing(files: Files) {
  const isLink = (text: string) => text.startsWith('-> ');
  return {
    entries: Object.entries(files).map(([path, text]) => ({
      path,
      mode: isLink(text) ? '120000' : '100644',
      id: text,
    })),
    links: new Map(
      Object.entries(files).flatMap(([path, text]) =>
        isLink(text) ? [[path, text.slice(3)]] : [],
      ),
    ),
  };
}

function check(before: Files, after: Files, policy: PathPolicy = { writableRoots: ['.'] }): void {
  const [old, made] = [listing(before), listing(after)];
  const modeAt = ({ entries }: typeof old, path: string) =>
    entries.find((entry) => entry.path === path)?.mode ?? '000000';
  const changes = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((path) => before[path] !== after[path])
    .map((path) => {
      return { path, oldMode: modeAt(old, path), newMode: modeAt(made, path), newId: '' };
    });
  checkPatch({ changes, before: old, after: made }, policy);
}

function expectRefusal(run: () => void, path: string, rule: PatchRule): void {
  expect(run).toThrow(
    expect.objectContaining({
      kind: 'patch_refused',
      details: { evidence: expect.objectContaining({ path, rule }) },
    }),
  );
}

describe('checkPatch', () => {
  it.each([
    '.github/workflows/ci.yml',
    'packages/a/.GitHub/Workflows/x',
    'deep/.gitlab-ci.yml',
    '.circleci/config.yml',
    'azure-Pipelines.YML',
    'a/jenkinsfile',
    'docs/codeowners',
    '.git/config',
    'a/.GIT/hooks/x',
    '.g\u200cit/config',
    'a/.env',
    '.env.',
    'app/Credentials/x',
    'secrets/x',
    'a/Policy/b',
  ])('refuses %j, which is protected at any depth and in any case', (path) => {
    expectRefusal(() => check({}, { [path]: 'x' }), path, 'protected-path');
    expectRefusal(() => check({ [path]: 'x' }, {}), path, 'protected-path');
  });

  it('lets pass what only looks like something protected', () => {
    check(
      {},
      { 'src/policy.ts': 'x', '.github/dependabot.yml': 'x', '.gitignore': 'x', envy: 'x' },
    );
  });

  it('protects what it is told to instead', () => {
    const policy = { writableRoots: ['.'], protectedPaths: ['lock/Me'] };
    check({}, { 'policy/x': 'x' }, policy);
    expectRefusal(() => check({}, { 'a/LOCK/me/x': 'x' }, policy), 'a/LOCK/me/x', 'protected-path');
  });

  it('refuses what stands outside of the writable roots', () => {
    const policy = { writableRoots: ['packages/a', 'README.md'] };
    check({}, { 'packages/a/x': 'x', 'README.md': 'x' }, policy);
    for (const path of ['packages/ab/x', 'packages/b', 'x', 'README.md.bak']) {
      expectRefusal(() => check({}, { [path]: 'x' }, policy), path, 'writable-roots');
    }
  });

  it('refuses links that lead out, through other links too', () => {
    const links: Files = {
      absolute: '-> /etc/passwd',
      'a/up': '-> ../../x',
      'a/b/hidden': '-> ../../a/b/../../../x',
      loop: '-> loop',
    };
    for (const [path, text] of Object.entries(links)) {
      expectRefusal(() => check({}, { [path]: text }), path, 'link-leaves-root');
    }
    const inner = { 'a/b/c/top': '-> ../../..' };
    check({}, inner);
    expectRefusal(
      () => check(inner, { ...inner, l: '-> a/b/c/top/../x' }),
      'l',
      'link-leaves-root',
    );
  });

  it('refuses a change that turns an unchanged link outwards, and bears one that always led out', () => {
    const before = { l: '-> a/m/../x', 'a/m/f': 'f', out: '-> /etc' };
    check(before, { ...before, new: 'x' });
    const after = { l: '-> a/m/../x', 'a/m': '-> ..', out: '-> /etc' };
    expectRefusal(() => check(before, after), 'l', 'link-leaves-root');
  });

  it('refuses names that differ in case or in the form of a letter alone, folders included', () => {
    const before = { 'src/a.ts': 'x', 'caf\u00e9': 'x' };
    for (const path of ['SRC/b.ts', 'src/A.ts', 'cafe\u0301', 'CAF\u00c9']) {
      const after = { ...before, [path]: 'x' };
      const named = path === 'SRC/b.ts' ? 'SRC' : path;
      expectRefusal(() => check(before, after), named, 'case-collision');
    }
    const old = { a: '1', A: '1' };
    check(old, { a: '2', A: '1', b: 'x' });
    check({ a: 'x' }, { A: 'x' });
  });

  it('refuses modes that are no file, no program and no link', () => {
    const tree = listing({});
    const change = { path: 'x', oldMode: '000000', newId: '' };
    const refusals = { '160000': 'gitlink', '104755': 'file-mode', '040000': 'file-mode' } as const;
    for (const [newMode, rule] of Object.entries(refusals)) {
      const patched = { changes: [{ ...change, newMode }], before: tree, after: tree };
      expectRefusal(() => checkPatch(patched, { writableRoots: ['.'] }), 'x', rule);
    }
  });
});

describe('leavesRoot', () => {
  it('follows a chain of links from where each stands', () => {
    const links = new Map([
      ['a/one', '../b/two'],
      ['b/two', 'three/../../c'],
      ['d/far', '../a/one/../../..'],
    ]);
    expect([...links.keys()].map((path) => leavesRoot(path, links))).toEqual([false, false, true]);
  });
});

describe('derivePatch', () => {
  const base: FileSpec = { path: 'f', content: 'f\n' };

  it.each<[string, FileSpec, PatchRule]>([
    ['a link out', { path: 'l', content: '../outside', mode: '120000' }, 'link-leaves-root'],
    ['a workflow', { path: 'a/.github/workflows/x.yml', content: 'x' }, 'protected-path'],
    ['another case', { path: 'F', content: 'x' }, 'case-collision'],
  ])('refuses %s in a work tree, and the same as a candidate', async (_, file, rule) => {
    await using thread = await openThread([base]);
    const workspace = await thread.rebuild();
    await put(workspace.workTree, [file]);
    const refusal = { kind: 'patch_refused', details: { evidence: { path: file.path, rule } } };
    await expect(thread.derive(workspace)).rejects.toMatchObject(refusal);
    const text = `diff --git a/${file.path} b/${file.path}
new file mode ${file.mode ?? '100644'}
--- /dev/null
+++ b/${file.path}
@@ -0,0 +1 @@
+${file.content}
\\ No newline at end of file
`;
    await expect(thread.rebuild(text)).rejects.toMatchObject(refusal);
  });

  it('refuses a submodule that only a patch text makes', async () => {
    await using thread = await openThread([base]);
    const text = `diff --git a/s b/s
new file mode 160000
--- /dev/null
+++ b/s
@@ -0,0 +1 @@
+Subproject commit ${'1'.repeat(40)}
`;
    await expect(thread.rebuild(text)).rejects.toMatchObject({
      details: { evidence: { path: 's', rule: 'gitlink' } },
    });
  });
});
