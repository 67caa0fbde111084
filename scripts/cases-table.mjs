import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run-command.mjs';

const page = 'docs/cases.md';
const ROWS = 95;

/**
 * Judges docs/cases.md: each id of its list has one row; a row names tests that exist and carry the id in a title, or
 * certifications that say they cover it, or gives a reason that begins with "not forced" or "later".
 */
export function findUnshownCases(pages) {
  const text = pages.find(({ path }) => path === page)?.text;
  if (text === undefined) return [`cases: ${page} does not exist`];
  const listed = /^The rows: ([^.]+)\./m.exec(text)?.[1].match(/B\d+/g) ?? [];
  const rows = [...text.matchAll(/^\| (B\d+) \| .+ \| (.+) \|$/gm)].map(([, id, shown]) => ({
    id,
    shown,
  }));
  const covers = readCovers();
  return [
    ...judgeList(listed, rows),
    ...rows.flatMap(({ id, shown }) => judgeRow(id, shown, covers)),
  ];
}

function judgeList(listed, rows) {
  const ids = rows.map(({ id }) => id);
  const complaints = listed.length === ROWS ? [] : [`it lists ${listed.length} ids, not ${ROWS}`];
  for (const id of new Set([...listed, ...ids])) {
    const [inList, inTable] = [listed, ids].map((all) => all.filter((one) => one === id).length);
    if (inList !== 1 || inTable !== 1) {
      complaints.push(`${id} stands ${inList} times in the list and ${inTable} times in a table`);
    }
  }
  return complaints.map((complaint) => `cases: ${page}: ${complaint}`);
}

function judgeRow(id, shown, covers) {
  const named = [...shown.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
  const isReasoned = /(^|; |: )(not forced|later)\b.{10,}/.test(shown);
  const isLater = /^(not forced|later)\b/.test(shown);
  if (named.length === 0 && !isReasoned) return [`cases: ${id} names no test and gives no reason`];
  return named.flatMap((name) => judgeName(id, name, { covers, isLater }));
}

function judgeName(id, name, { covers, isLater }) {
  if (name.startsWith('Cert')) {
    if (!covers.has(name)) return [`cases: ${id} names ${name}, which does not exist`];
    const isNamed = isLater || covers.get(name).includes(id);
    return isNamed ? [] : [`cases: ${name} does not say that it covers ${id}`];
  }
  if (!name.includes('/')) return [];
  const path = join(root, name);
  if (!existsSync(path)) return [`cases: ${id} names ${name}, which does not exist`];
  const isTitled = readTitles(readFileSync(path, 'utf8')).some((ids) => ids.includes(id));
  return isTitled ? [] : [`cases: no title in ${name} begins with ${id}`];
}

/** The ids that titles begin with: `'B06, B07: a session …'`. */
function readTitles(text) {
  return [...text.matchAll(/['"`]((?:B\d+, )*B\d+): /g)].map(([, ids]) => ids.split(', '));
}

/** Each certification with the rows it says that it covers. */
function readCovers() {
  const folder = join(root, 'packages/provider-core/src/certification');
  const files = readdirSync(folder, { recursive: true }).filter((name) =>
    /^requirements.*(?<!\.test)\.ts$/.test(name),
  );
  const text = files.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
  const blocks = text.split(/^\s+(?=Cert\w+: \{)/m).slice(1);
  return new Map(
    blocks.map((block) => [
      /^Cert\w+/.exec(block)[0],
      /covers: \[([^\]]*)\]/.exec(block)?.[1].match(/B\d+/g) ?? [],
    ]),
  );
}
