import ts from 'typescript';
import { placeOf, walk } from './read-sources.mjs';

const LINES_A_FILE = 300;
const LINES_A_TEST_FILE = 400;
const LINES_A_FUNCTION = 60;

/** Files and functions that are too long to be read in one sitting and have no written reason. */
export function findOversized(sources, exceptions) {
  const complaints = [];
  for (const source of sources.filter(({ isSource }) => isSource)) {
    const limit = source.isTest ? LINES_A_TEST_FILE : LINES_A_FILE;
    const lines = source.text.trimEnd().split('\n').length;
    if (lines > limit && !(source.path in exceptions)) {
      complaints.push(`file-size: ${source.path} has ${lines} lines, ${limit} are allowed`);
    }
    if (!source.isTest) complaints.push(...findLongFunctions(source, exceptions));
  }
  return complaints;
}

function findLongFunctions(source, exceptions) {
  const complaints = [];
  walk(source.syntax, (node) => {
    if (!ts.isFunctionLike(node) || !node.body) return;
    const line = (position) => source.syntax.getLineAndCharacterOfPosition(position).line;
    const lines = line(node.end) - line(node.getStart(source.syntax)) + 1;
    if (lines <= LINES_A_FUNCTION || `${source.path}#${nameOf(node)}` in exceptions) return;
    complaints.push(
      `function-size: ${placeOf(source, node)} ${nameOf(node)} has ${lines} lines, ${LINES_A_FUNCTION} are allowed`,
    );
  });
  return complaints;
}

function nameOf(node) {
  return node.name?.getText() ?? node.parent?.name?.getText() ?? 'anonymous';
}
