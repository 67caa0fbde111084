import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../run-command.mjs';

/**
 * Every file that is or would be committed, as `{ path, text }`; sources also have `syntax`, `isTest` and `isPackage`.
 */
export function readSources() {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const paths = listed.split('\n').filter((path) => path !== '' && existsSync(join(root, path)));
  return paths.sort().map(readSource);
}

function readSource(path) {
  const text = readFileSync(join(root, path), 'utf8');
  const isSource = /\.(ts|mjs)$/.test(path) && !path.includes('__fixtures__');
  return {
    path,
    text,
    isSource,
    isTest: /\.test(-d)?\.(ts|mjs)$/.test(path),
    isPackage: isSource && /^packages\/[^/]+\/src\//.test(path),
    syntax: isSource ? ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) : undefined,
  };
}

/** Calls `visit` for every node of a source file, parents first. */
export function walk(node, visit) {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** `path:line`, as an editor opens it. */
export function placeOf(source, node) {
  const { line } = source.syntax.getLineAndCharacterOfPosition(node.getStart(source.syntax));
  return `${source.path}:${line + 1}`;
}

/** The text of a string or of the fixed parts of a template; undefined for any other node. */
export function textOf(node) {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…');
  }
  return undefined;
}
