import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run-command.mjs';

const page = 'docs/requirements.md';

/**
 * Judges docs/requirements.md: the last cell of every row names, in backticks, a test file, an npm script or a
 * certification that exists, or says which issue will bring it ("issue 3").
 */
export function findUnprovenRequirements(pages) {
  const text = pages.find(({ path }) => path === page)?.text;
  if (text === undefined) return [`requirements: ${page} does not exist`];
  const rows = readRows(text);
  if (rows.length === 0) return [`requirements: ${page} has no row; the check is blind`];
  return rows.flatMap(judgeRow);
}

function readRows(text) {
  const lines = text.split('\n').map((line, index) => ({ line, number: index + 1 }));
  const isRow = ({ line }) => /^\s*\|.*\|\s*$/.test(line);
  const isRule = ({ line }) => /^[\s|:-]+$/.test(line);
  return lines
    .filter(
      (entry, index) =>
        isRow(entry) &&
        !isRule(entry) &&
        !(lines[index + 1] && isRule(lines[index + 1]) && isRow(lines[index + 1])),
    )
    .map(({ line, number }) => ({ number, cells: splitCells(line) }));
}

function splitCells(line) {
  return line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

function judgeRow({ number, cells }) {
  const proof = cells.at(-1) ?? '';
  const named = [...proof.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
  const missing = named.filter((name) => !isThere(name));
  if (missing.length > 0) {
    return missing.map(
      (name) => `requirements: ${page}:${number} names \`${name}\`, which does not exist`,
    );
  }
  if (named.length > 0 || /\bissues? \d+/i.test(proof)) return [];
  return [
    `requirements: ${page}:${number} names neither a test, a script, a certification nor an issue`,
  ];
}

function isThere(name) {
  const script = /^npm (?:run )?([\w:-]+)/.exec(name)?.[1];
  if (script) return script in readManifest().scripts;
  if (/^Cert[A-Z]/.test(name)) return readRequirements().includes(name);
  return existsSync(join(root, name.split('#')[0].split(' ')[0]));
}

function readManifest() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}

function readRequirements() {
  const folder = join(root, 'packages/provider-core/src/certification');
  return readdirSync(folder, { recursive: true })
    .filter((name) => /^requirements.*\.ts$/.test(name) && !name.includes('.test'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
}
