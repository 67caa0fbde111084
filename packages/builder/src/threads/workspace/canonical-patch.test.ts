import { chmod, lstat, mkdir, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openThread, put } from './__fixtures__/job.js';
import type { FileSpec } from './__fixtures__/repository.js';
import { digestPatch } from './patch-text.js';

const latin1 = Buffer.from('caf\xe9\nsecond\n', 'latin1');

interface NamedCase {
  readonly base: readonly FileSpec[];
  /** All that stands there in the end. */
  readonly target: readonly FileSpec[];
  readonly changed: readonly string[];
}

const kept: FileSpec = { path: 'kept.txt', content: 'kept\n' };

const cases: Readonly<Record<string, NamedCase>> = {
  'a rename': {
    base: [kept, { path: 'old.txt', content: 'same\n' }],
    target: [kept, { path: 'new.txt', content: 'same\n' }],
    changed: ['new.txt', 'old.txt'],
  },
  'a deletion of everything': { base: [kept], target: [], changed: ['kept.txt'] },
  'a mode change alone': {
    base: [kept],
    target: [{ ...kept, mode: '100755' }],
    changed: ['kept.txt'],
  },
  'a binary file': {
    base: [{ path: 'b', content: Uint8Array.of(0, 1, 2, 255) }],
    target: [{ path: 'b', content: Uint8Array.of(0, 255, 0, 254, 10) }],
    changed: ['b'],
  },
  'bytes that are no UTF-8': {
    base: [kept, { path: 'l.txt', content: 'cafe\n' }],
    target: [
      { path: 'kept.txt', content: 'changed ä\n' },
      { path: 'l.txt', content: latin1 },
    ],
    changed: ['kept.txt', 'l.txt'],
  },
  'a byte order mark': {
    base: [kept],
    target: [kept, { path: 'bom.txt', content: '\ufeffmark\n' }],
    changed: ['bom.txt'],
  },
  'names that git quotes': {
    base: [{ path: 'ä/quote".txt', content: '1\n' }],
    target: ['ä/quote".txt', 'tab\there', 'line\nfeed', 'back\\slash', ' lead', '日本/x y'].map(
      (path) => ({ path, content: '2\n' }),
    ),
    changed: [' lead', 'back\\slash', 'line\nfeed', 'tab\there', 'ä/quote".txt', '日本/x y'],
  },
  'a link within the repository': {
    base: [kept],
    target: [kept, { path: 'd/l', content: '../kept.txt', mode: '120000' }],
    changed: ['d/l'],
  },
  'a file that becomes a link': {
    base: [kept, { path: 'f', content: 'file\n' }],
    target: [kept, { path: 'f', content: 'kept.txt', mode: '120000' }],
    changed: ['f'],
  },
  'a file that becomes a folder': {
    base: [{ path: 'f', content: 'file\n' }],
    target: [{ path: 'f/g', content: 'file\n' }],
    changed: ['f', 'f/g'],
  },
  'empty files': {
    base: [{ path: 'gone' }],
    target: [{ path: 'made' }],
    changed: ['gone', 'made'],
  },
  'line ends of both kinds, whatever attributes want': {
    base: [
      {
        path: '.gitattributes',
        content: '* text=auto eol=crlf\n*.bin working-tree-encoding=UTF-16\n',
      },
      { path: 'w.txt', content: 'a\r\nb\n' },
    ],
    target: [
      {
        path: '.gitattributes',
        content: '* text=auto eol=crlf\n*.bin working-tree-encoding=UTF-16\n',
      },
      { path: 'w.txt', content: 'a\nb\r\nno end' },
      { path: 'x.bin', content: 'x\n' },
    ],
    changed: ['w.txt', 'x.bin'],
  },
  'lines that look like the head of a patch': {
    base: [kept],
    target: [
      { path: 'kept.txt', content: latin1 },
      { path: 'p', content: '\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n' },
    ],
    changed: ['kept.txt', 'p'],
  },
};

async function proveRoundTrip({ base, target, changed }: NamedCase, format?: 'sha1' | 'sha256') {
  await using thread = await openThread(base, format);
  const workspace = await thread.rebuild();
  for (const { path } of base) await rm(join(workspace.workTree, String(path)), { force: true });
  await put(workspace.workTree, target);
  const derived = await thread.derive(workspace);
  expect(derived.tree).toBe(await thread.place.treeOf(target));
  expect(derived.changedPaths.toSorted()).toEqual(changed.toSorted());
  const rebuilt = await thread.rebuild(derived.patch);
  expect(rebuilt).toEqual({ ...workspace, tree: derived.tree });
  for (const { path, content = '', mode = '100644' } of target) {
    const place = join(rebuilt.workTree, String(path));
    const found = mode === '120000' ? Buffer.from(await readlink(place)) : await readFile(place);
    expect(found).toEqual(Buffer.from(content));
    expect(((await lstat(place)).mode & 0o100) !== 0).toBe(mode !== '100644');
  }
  return derived;
}

describe('derivePatch', () => {
  it.each(Object.keys(cases))('carries %s over to a rebuilt workspace', async (name) => {
    const found = cases[name];
    if (!found) throw new Error('unreachable: a case without a name');
    await proveRoundTrip(found);
  });

  it('works on repositories whose ids are SHA-256', async () => {
    const changed = ['new.txt'];
    const target = [kept, { path: 'new.txt', content: 'new\n' }];
    const { tree } = await proveRoundTrip({ base: [kept], target, changed }, 'sha256');
    expect(tree).toMatch(/^[0-9a-f]{64}$/);
  });

  it('derives the same patch again from what it rebuilt', async () => {
    await using thread = await openThread([kept, { path: 'l', content: 'l\n' }]);
    const workspace = await thread.rebuild();
    const made = { path: 'ä/made', content: Uint8Array.of(0, 200), mode: '100755' } as const;
    await put(workspace.workTree, [{ path: 'l', content: latin1 }, made]);
    const derived = await thread.derive(workspace);
    expect(await thread.derive(await thread.rebuild(derived.patch))).toEqual(derived);
  });

  it('has an outcome of its own for no change', async () => {
    await using thread = await openThread([kept]);
    const workspace = await thread.rebuild();
    const { tree, ...derived } = await thread.derive(workspace);
    expect(derived).toEqual({
      outcome: 'no-change',
      patch: '',
      patchDigest: digestPatch(''),
      changedPaths: [],
    });
    expect(tree).toBe(workspace.baseTree);
    expect(await thread.rebuild('')).toEqual(workspace);
  });

  it('is cumulative, and keeps what an earlier job added even where a later one ignores it', async () => {
    await using thread = await openThread([kept]);
    const first = await thread.rebuild();
    await put(first.workTree, [{ path: 'made.log', content: 'one\n' }]);
    const { patch } = await thread.derive(first);
    const second = await thread.rebuild(patch);
    await put(second.workTree, [{ path: '.gitignore', content: '*.log\n' }]);
    expect((await thread.derive(second)).changedPaths).toEqual(['.gitignore', 'made.log']);
  });

  it('leaves out what is ignored, and keeps what is tracked and ignored', async () => {
    const ignore = { path: '.gitignore', content: '*.log\nbuild/\n' };
    await using thread = await openThread([ignore, { path: 'tracked.log', content: '1\n' }]);
    const workspace = await thread.rebuild();
    await put(workspace.workTree, [
      { path: 'tracked.log', content: '2\n' },
      { path: 'other.log', content: 'x\n' },
      { path: 'build/out', content: 'x\n' },
    ]);
    expect((await thread.derive(workspace)).changedPaths).toEqual(['tracked.log']);
  });

  it('believes no time and no index of a job', async () => {
    await using thread = await openThread([kept]);
    const workspace = await thread.rebuild();
    await put(workspace.workTree, [{ path: 'kept.txt', content: 'KEPT\n' }]);
    const place = { ...workspace, indexFile: join(workspace.gitDir, 'index') };
    await thread.place.git.run({ args: ['update-index', '--assume-unchanged', 'kept.txt'], place });
    await writeFile(join(workspace.gitDir, 'info', 'exclude'), '*\n');
    expect((await thread.derive(workspace)).changedPaths).toEqual(['kept.txt']);
  });

  it('refuses more than its bounds before it stores anything', async () => {
    await using thread = await openThread([kept]);
    const workspace = await thread.rebuild();
    await put(workspace.workTree, [
      { path: 'a', content: 'x'.repeat(5000) },
      { path: 'b', content: 'y' },
    ]);
    const refusals = [
      [{ maximumChangedFiles: 1 }, 'maximum-changed-files'],
      [{ maximumChangedBytes: 5000 }, 'maximum-changed-bytes'],
      [{ maximumPatchBytes: 5000 }, 'maximum-patch-bytes'],
    ] as const;
    for (const [bounds, rule] of refusals) {
      await expect(thread.derive(workspace, { bounds })).rejects.toMatchObject({
        kind: 'patch_refused',
        details: { evidence: { path: '', rule } },
      });
    }
  });

  it('refuses a patch that is not in its one form, or does not apply', async () => {
    await using thread = await openThread([kept]);
    const workspace = await thread.rebuild();
    await put(workspace.workTree, [{ path: 'kept.txt', content: 'changed\n' }]);
    const { patch } = await thread.derive(workspace);
    const refusals = [
      [`A preface.\n${patch}`, 'not-canonical'],
      [patch.replaceAll('kept.txt', 'absent.txt'), 'not-applicable'],
      [patch.replaceAll('/kept.txt', '/../kept.txt'), 'not-applicable'],
    ] as const;
    for (const [text, rule] of refusals) {
      const evidence = { path: '', rule };
      await expect(thread.rebuild(text)).rejects.toMatchObject({ details: { evidence } });
    }
  });

  it('refuses a name that is no UTF-8', async () => {
    await using thread = await openThread([kept]);
    const workspace = await thread.rebuild();
    await put(workspace.workTree, [{ path: Buffer.from('caf\xe9', 'latin1'), content: 'x\n' }]);
    await expect(thread.derive(workspace)).rejects.toMatchObject({
      kind: 'patch_refused',
      details: { evidence: { path: 'caf\xe9', rule: 'path-encoding' } },
    });
  });

  it('takes nothing over from a job but its patch, at the same place', async () => {
    await using thread = await openThread([kept]);
    const { workTree, scratch } = await thread.rebuild();
    await put(workTree, [{ path: 'left', content: 'x' }]);
    await put(scratch, [{ path: 'cache', content: 'x' }]);
    await mkdir(join(workTree, 'closed', 'deep'), { recursive: true });
    await chmod(join(workTree, 'closed'), 0o000);
    const outside = join(thread.place.folder, 'outside');
    await put(outside, [{ path: 'safe', content: 'safe' }]);
    await put(workTree, [{ path: 'out', content: outside, mode: '120000' }]);
    await rename(scratch, join(thread.root, 'moved'));
    await put(thread.root, [{ path: 'scratch', content: outside, mode: '120000' }]);
    expect(await thread.rebuild()).toMatchObject({ workTree, scratch });
    expect((await lstat(scratch)).isDirectory()).toBe(true);
    expect(await readFile(join(outside, 'safe'), 'utf8')).toBe('safe');
    await expect(lstat(join(workTree, 'left'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

const segments = ['a', 'b c', 'ä', '日本', 'tab\t', 'line\nfeed', 'back\\', 'quote"', '-dash', '*'];
const content = fc.oneof(
  fc.constant(''),
  fc
    .array(fc.constantFrom('one', 'two', 'é', '', 'diff --git a/a b/a'), { maxLength: 6 })
    .chain((lines) => fc.constantFrom('\n', '\r\n', '\n\n').map((end) => lines.join(end))),
  fc.uint8Array({ maxLength: 40 }),
  fc.constant(latin1),
);
const file = fc.record({
  path: fc
    .array(fc.constantFrom(...segments), { minLength: 1, maxLength: 3 })
    .map((all) => all.join('/')),
  content,
  mode: fc.constantFrom('100644', '100755'),
});
const link = fc.record({
  path: fc.constantFrom('a', 'l', 'ä'),
  content: fc.constantFrom('*', 'nowhere/b c', './line\nfeed'),
  mode: fc.constant('120000'),
});

/** Without two files of which one stands where the other has its folder. */
const files = fc
  .array(fc.oneof({ weight: 5, arbitrary: file }, link), { maxLength: 8 })
  .map((all) =>
    all.filter(({ path }, at) =>
      all
        .slice(0, at)
        .every(
          (other) =>
            !`${other.path}/`.startsWith(`${path}/`) && !`${path}/`.startsWith(`${other.path}/`),
        ),
    ),
  );

describe('patches of generated repositories', () => {
  it('make the tree that was built, by its id', { timeout: 180_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(files, files, async (base, target) => {
        const before = new Map(base.map((each) => [each.path, JSON.stringify(each)]));
        const after = new Map(target.map((each) => [each.path, JSON.stringify(each)]));
        const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
          (path) =>
            !isSame(
              base.find((f) => f.path === path),
              target.find((f) => f.path === path),
            ),
        );
        await proveRoundTrip({ base, target, changed } as NamedCase);
      }),
      { numRuns: 8 },
    );
  });
});

function isSame(one: FileSpec | undefined, other: FileSpec | undefined): boolean {
  if (!one || !other) return false;
  return (
    one.mode === other.mode &&
    Buffer.from(one.content ?? '').equals(Buffer.from(other.content ?? ''))
  );
}
