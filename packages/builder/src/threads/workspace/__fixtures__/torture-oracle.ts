import { isSameFile, type Model, type TortureCase } from './torture.js';

/** What must come of a case: the files of the tree, or the rules that may refuse it. */
export interface Expectation {
  readonly files: Model;
  readonly changed: readonly string[];
  readonly rules: ReadonlySet<string>;
}

/** Says what must come of a case from what it is alone, by other means than what is tested. */
export function expectOf({ base, target }: TortureCase): Expectation {
  const files = withoutIgnored(base, target);
  const changed = [...new Set([...base.keys(), ...files.keys()])].filter(
    (path) => !isSameFile(base.get(path), files.get(path)),
  );
  return { files, changed, rules: new Set(findRules({ base, files, changed })) };
}

/** One pattern is used, so that there is no second reading of git's rules here. */
function withoutIgnored(base: Model, target: Model): Model {
  return new Map(
    [...target].filter(([path]) => base.has(path) || !isIgnored(path, target)),
  );
}

function isIgnored(path: string, target: Model): boolean {
  const segments = path.split('/');
  return segments.some((_, depth) => {
    const folder = segments.slice(0, depth);
    const { content, mode = '100644' } = target.get([...folder, '.gitignore'].join('/')) ?? {};
    const isRule = mode !== '120000' && content === '*.ignored\n';
    return isRule && segments.slice(depth).some((segment) => segment.endsWith('.ignored'));
  });
}

interface Judged {
  readonly base: Model;
  readonly files: Model;
  readonly changed: readonly string[];
}

const PROTECTED = /(^|\/)(\.git\s*|git~1|\.g\u200cit|\.env|secrets|codeowners)(\/|$)/i;

function* findRules({ base, files, changed }: Judged): Iterable<string> {
  for (const path of changed) {
    if (!isText(path)) yield 'path-encoding';
    if (base.get(path)?.mode === '160000' || files.get(path)?.mode === '160000') yield 'gitlink';
    if (PROTECTED.test(Buffer.from(path, 'latin1').toString())) yield 'protected-path';
    if ([...base].some(([other, { mode }]) => mode === '160000' && path.startsWith(`${other}/`))) {
      yield 'gitlink';
    }
  }
  for (const [path, { mode }] of files) {
    if (mode !== '120000' || !isText(path) || !leaves(path, files)) continue;
    if (changed.includes(path) || !leaves(path, base)) yield 'link-leaves-root';
  }
  if (collides(base, files)) yield 'case-collision';
}

function isText(latin1: string): boolean {
  const raw = Buffer.from(latin1, 'latin1');
  return Buffer.from(raw.toString('utf8')).equals(raw);
}

/** Follows a link as a kernel would; where nothing stands, a name is a folder. */
function leaves(path: string, files: Model): boolean {
  let followed = 0;
  const walk = (from: readonly string[], name: string): readonly string[] | undefined => {
    if (name === '' || name === '.') return from;
    if (name === '..') return from.length === 0 ? undefined : from.slice(0, -1);
    const at = [...from, name];
    const found = files.get(at.join('/'));
    if (found?.mode !== '120000') return at;
    followed += 1;
    const target = Buffer.from(found.content ?? '').toString('latin1');
    if (followed > 40 || /^\/|\\/.test(target) || !isText(target)) return undefined;
    return walkAll(from, target);
  };
  const walkAll = (from: readonly string[], route: string) =>
    route
      .split('/')
      .reduce<readonly string[] | undefined>((at, name) => at && walk(at, name), from);
  return walkAll([], path) === undefined;
}

function collides(base: Model, files: Model): boolean {
  const known = foldersOf(base);
  const seen = new Map<string, string[]>();
  for (const path of foldersOf(files)) {
    const folded = Buffer.from(path, 'latin1').toString().normalize('NFC').toLowerCase();
    seen.set(folded.replaceAll('ﬁ', 'fi'), [...(seen.get(folded) ?? []), path]);
  }
  return [...seen.values()].some((all) => all.length > 1 && all.some((path) => !known.has(path)));
}

function foldersOf(model: Model): ReadonlySet<string> {
  const all = [...model.keys()].filter(isText).map((path) => path.split('/'));
  return new Set(all.flatMap((path) => path.map((_, at) => path.slice(0, at + 1).join('/'))));
}
