import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run-command.mjs';

const page = 'docs/coding-threads-cases.md';

/** How many cases each section of the page has: none is dropped without being seen. */
const SECTIONS = {
  'Job, contract, artifacts': 10,
  Protocols: 8,
  'Store and lock': 10,
  'Codex: protocol and workspace': 29,
  'Claude Code': 30,
  'Sessions in a workspace': 5,
  'Admission and scheduling': 17,
  'Runner and worker process': 24,
  'End to end': 8,
  'What no earlier test covered': 10,
};

/** The only reasons for a case without a test. */
const REASONS = /\b(enterprise|cgroups?|namespaces?)\b/i;

/** Judges docs/coding-threads-cases.md: each case has one row, whose tests exist, or which says why it has none. */
export function findUnshownThreadCases(pages) {
  const text = pages.find(({ path }) => path === page)?.text;
  if (text === undefined) return [`coding-threads: ${page} does not exist`];
  const sections = text.split(/^## /m).slice(1);
  const rows = sections.flatMap(readRows);
  const names = rows.map(({ name }) => name);
  return [
    ...Object.keys(SECTIONS).flatMap((title) => judgeSection(title, sections)),
    ...names.filter((name, at) => names.indexOf(name) !== at).map((name) => `${name} stands twice`),
    ...rows.flatMap(judgeRow),
  ].map((complaint) => `coding-threads: ${complaint}`);
}

function judgeSection(title, sections) {
  const section = sections.find((one) => one.startsWith(`${title}\n`));
  const count = section ? readRows(section).length : 0;
  return count === SECTIONS[title] ? [] : [`“${title}” has ${count} rows, not ${SECTIONS[title]}`];
}

function readRows(section) {
  const rows = section.matchAll(/^\| `([^`]+)` \| (.+?) \| (.+) \|$/gm);
  return [...rows].map(([, name, , shown]) => ({ name, shown }));
}

function judgeRow({ name, shown }) {
  if (shown.startsWith('none: ')) {
    return REASONS.test(shown) ? [] : [`${name} has no test, for a reason that counts for nothing`];
  }
  const tests = [...shown.matchAll(/`([^`]+)`: ((?:“[^”]+”(?:, )?)+)/g)];
  if (tests.length === 0) return [`${name} names no test and gives no reason`];
  return tests.flatMap(([, place, titles]) => judgeTests(name, place, titles));
}

function judgeTests(name, place, titles) {
  const path = pathOf(place);
  if (!existsSync(join(root, path))) return [`${name} names ${path}, which does not exist`];
  const source = readFileSync(join(root, path), 'utf8');
  return [...titles.matchAll(/“([^”]+)”/g)]
    .filter(([, title]) => !holdsTitle(source, title))
    .map(([, title]) => `${name}: no test in ${path} is called “${title}”`);
}

/** `builder/threads/x.test.ts` stands in the sources of that package. */
function pathOf(place) {
  const [first, ...rest] = place.split('/');
  return first === 'e2e' || first === 'scripts'
    ? place
    : ['packages', first, 'src', ...rest].join('/');
}

function holdsTitle(source, title) {
  return ["'", '"', '`'].some((quote) => source.includes(`${quote}${title}${quote}`));
}
