import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { put } from './job.js';
import type { FileSpec } from './repository.js';

/** Files by their paths, as latin1 text so that each byte of a name has its place. */
export type Model = ReadonlyMap<string, FileSpec>;

/** A repository, and what a turn makes of it. */
export interface TortureCase {
  readonly base: Model;
  readonly target: Model;
}

const bytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

const SEGMENTS = [
  ...['a', 'A', 'b c', ' lead', 'trail ', '-dash', '--', '*', '[x]', '?', ':(top)a', '!neg', '#h'],
  ...['tab\t', 'line\nfeed', 'cr\r', 'quote"', "single'", 'back\\', '\x01\x7f', 'con', 'x'.repeat(200)],
  ...['é', 'e\u0301', 'ä', '日本', '\u{1f600}', 'ﬁ', 'rtl\u202e'].map(bytes),
  ...['.gitignore', '.gitattributes', '.gitmodules', '.gitkeep', 'kept.ignored', 'dev', 'null'],
];

const NO_TEXT = ['caf\xe9', '\xff\xfe', '\xc3('];

/** Names that no patch may make: git refuses some of them, we the others. */
const GUARDED = ['.GIT', 'git~1', '.g\u200cit', '.env', 'Secrets', 'CODEOWNERS', '.git '].map(bytes);

const ATTRIBUTES =
  '[attr]mine filter=evil diff=evil\n* filter=evil diff=evil ident eol=crlf text=auto\n' +
  '* working-tree-encoding=UTF-16 whitespace=trailing-space export-subst\n*.x binary\na -text mine\n';

const text = fc
  .array(fc.constantFrom('one', 'two', 'é', '', '$Id$', ' x ', 'diff --git a/a b/a', '-- ', '@@ -1 +1 @@'), {
    maxLength: 7,
  })
  .chain((lines) => fc.constantFrom('\n', '\r\n', '\n\n', '\r').map((end) => lines.join(end)));

const content: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 2, arbitrary: fc.uint8Array({ maxLength: 60 }) },
  fc.constantFrom(
    '',
    '\n',
    'x'.repeat(120_000),
    '\ufeffmark\n',
    Buffer.from('caf\xe9\n', 'latin1'),
    Buffer.alloc(40_000, 0),
    Buffer.from(Array.from({ length: 30_000 }, (_, at) => (at * 7919) % 251)),
    `${'line\n'.repeat(3000)}end`,
    ATTRIBUTES,
    '*.ignored\n',
  ),
);

const LINK_TARGETS = [
  ...['a', 'a/b c', '.', './a', '..', '../a', '../../a', 'A/../a', 'a/..', 'a/../..', '/etc/passwd'],
  ...['back\\slash', 'nowhere/at/all', 'line\nfeed', bytes('é'), 'l', '../l', 'a//a/', 'caf\xe9/a'],
];

const segment = fc.oneof(
  { weight: 60, arbitrary: fc.constantFrom('a', 'a', 'l', ...SEGMENTS) },
  { weight: 1, arbitrary: fc.constantFrom(...NO_TEXT) },
);
const path = fc
  .array(segment, { minLength: 1, maxLength: 3 })
  .map((segments) => segments.join('/'));

const mode = fc.constantFrom('100644', '100644', '100755');
const file = fc.record({ path, content, mode });
const link = fc.record({
  path,
  content: fc.constantFrom(...LINK_TARGETS).map((target) => Buffer.from(target, 'latin1')),
  mode: fc.constant('120000'),
});
const gitlink = fc.record({
  path,
  content: fc.constantFrom('1'.repeat(40), '2'.repeat(40)),
  mode: fc.constant('160000'),
});
const steering = fc.constantFrom(
  { path: '.gitattributes', content: ATTRIBUTES, mode: '100644' },
  { path: '.gitignore', content: '*.ignored\n', mode: '100644' },
  { path: '.gitmodules', content: '[submodule "s"]\n\tpath = a\n\turl = ext::x\n', mode: '100644' },
);

interface Made {
  readonly path: string;
  readonly content: string | Uint8Array;
  readonly mode: string;
}

const change = fc.record({
  kind: fc.constantFrom('delete', 'rewrite', 'mode', 'rename', 'folder', 'parent', 'keep', 'keep'),
  content,
  path,
});
const guarded = fc.record({
  path: fc.constantFrom(...GUARDED).chain((name) => fc.constantFrom(name, `a/${name}`, `${name}/x`)),
  content: text,
  mode,
});

/** Repositories of every kind we could think of, with what a turn could make of them. */
export const tortureCases: fc.Arbitrary<TortureCase> = fc
  .record({
    base: fc.array(weigh([file, 9], [link, 2], [gitlink, 1], [steering, 1]), { maxLength: 9 }),
    changes: fc.array(change, { minLength: 9, maxLength: 9 }),
    fresh: fc.array(weigh([file, 9], [link, 1], [steering, 2]), { maxLength: 5 }),
    guarded: fc.oneof({ weight: 9, arbitrary: fc.constant([]) }, fc.array(guarded, { maxLength: 1 })),
  })
  .map(({ base, changes, fresh, guarded }) => {
    const before = modelOf(base);
    return { base: before, target: changeModel(before, changes, [...fresh, ...guarded]) };
  });

function weigh(...parts: readonly (readonly [fc.Arbitrary<Made>, number])[]): fc.Arbitrary<Made> {
  return fc.oneof(...parts.map(([arbitrary, weight]) => ({ arbitrary, weight })));
}

function modelOf(files: readonly Made[]): Map<string, FileSpec> {
  const model = new Map<string, FileSpec>();
  for (const made of files) {
    // Git takes no link of this name, in no repository.
    if (made.mode !== '100644' && /(^|\/)\.gitmodules$/.test(made.path)) continue;
    place(model, made);
  }
  return model;
}

/** Puts one file where nothing else may stand: not on its path, not above it, not below it. */
function place(model: Map<string, FileSpec>, { path: name, ...rest }: Made): void {
  for (const other of [...model.keys()]) {
    if (`${other}/`.startsWith(`${name}/`) || `${name}/`.startsWith(`${other}/`)) model.delete(other);
  }
  model.set(name, { ...rest, path: Buffer.from(name, 'latin1') } as FileSpec);
}

function changeModel(
  base: Model,
  changes: readonly { readonly kind: string; readonly content: string | Uint8Array; readonly path: string }[],
  fresh: readonly Made[],
): Model {
  const model = new Map(base);
  for (const [at, [name, { content: was = '', mode: modeWas = '100644' }]] of [...base].entries()) {
    const wanted = changes[at];
    if (!wanted || !model.has(name) || wanted.kind === 'keep') continue;
    if (wanted.kind !== 'mode' && wanted.kind !== 'rewrite') model.delete(name);
    if (modeWas === '160000') continue;
    const plain = { path: name, content: was, mode: modeWas };
    if (wanted.kind === 'rewrite') place(model, { ...plain, content: wanted.content, mode: '100644' });
    if (wanted.kind === 'mode' && modeWas !== '120000') {
      place(model, { ...plain, mode: modeWas === '100755' ? '100644' : '100755' });
    }
    if (wanted.kind === 'rename') place(model, { ...plain, path: wanted.path });
    if (wanted.kind === 'folder') place(model, { ...plain, path: `${name}/a` });
    if (wanted.kind === 'parent' && name.includes('/')) {
      place(model, { path: name.slice(0, name.indexOf('/')), content: wanted.content, mode: '100644' });
    }
  }
  for (const made of fresh) place(model, made);
  for (const [name, { mode: is }] of [...model]) {
    if (is !== '100644' && /(^|\/)\.gitmodules$/.test(name)) model.delete(name);
  }
  return model;
}

/** Whether two files are the same to git. */
export function isSameFile(one: FileSpec | undefined, other: FileSpec | undefined): boolean {
  if (!one || !other) return one === other;
  const isAlike = (one.mode ?? '100644') === (other.mode ?? '100644');
  return isAlike && Buffer.from(one.content ?? '').equals(Buffer.from(other.content ?? ''));
}

/** Makes in a work tree of the base what a turn would have made. */
export async function build(workTree: string, { base, target }: TortureCase): Promise<void> {
  for (const name of base.keys()) {
    if (target.has(name)) continue;
    const doomed = Buffer.concat([Buffer.from(join(workTree, '/')), Buffer.from(name, 'latin1')]);
    await rm(doomed, { recursive: true, force: true });
  }
  const changed = [...target].filter(([name, spec]) => !isSameFile(base.get(name), spec));
  await put(workTree, changed.map(([, spec]) => spec));
}
