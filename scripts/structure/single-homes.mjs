import ts from 'typescript';
import { placeOf, textOf, walk } from './read-sources.mjs';

const core = 'packages/provider-core/src';
const timers = ['setTimeout', 'setInterval'];
const processStarters = [
  `${core}/transports/run-process.ts`,
  `${core}/transports/tmux/tmux-client.ts`,
  `${core}/transports/tmux/control-connection.ts`,
];

/** Things that have one home in the packages: real time, started processes, type assertions, plain errors. */
export function findStrays(sources, exceptions) {
  const complaints = [];
  for (const source of sources) {
    if (!source.isPackage || source.isTest) continue;
    walk(source.syntax, (node) => {
      for (const [rule, judge] of Object.entries(rules)) {
        if (`${source.path}#${rule}` in exceptions) continue;
        const complaint = judge(node, source);
        if (complaint) complaints.push(`${rule}: ${placeOf(source, node)} ${complaint}`);
      }
    });
  }
  return complaints;
}

const rules = {
  'real-time': (node, { path }) => {
    if (path.startsWith(`${core}/time/`)) return undefined;
    const used = findRealTime(node);
    return used && `uses ${used}; real time is touched only in time/`;
  },
  'process-start': (node, { path }) => {
    if (!ts.isImportDeclaration(node) || processStarters.includes(path)) return undefined;
    const name = textOf(node.moduleSpecifier);
    const isValueImport = node.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword;
    return isValueImport && ['node:child_process', 'child_process', 'execa'].includes(name)
      ? `imports ${name}; processes are started by run-process.ts and tmux-client.ts`
      : undefined;
  },
  assertion: (node, { path }) => {
    if (path.endsWith('.wire.ts') || path.endsWith('/snake-case-codec.ts')) return undefined;
    if (!ts.isAsExpression(node) && !ts.isTypeAssertionExpression(node)) return undefined;
    return node.type.getText() === 'const' ? undefined : 'asserts a type with `as`';
  },
  'plain-error': (node) => {
    if (!ts.isNewExpression(node) && !ts.isCallExpression(node)) return undefined;
    if (!ts.isIdentifier(node.expression) || node.expression.text !== 'Error') return undefined;
    const text = node.arguments?.[0] && textOf(node.arguments[0]);
    return text?.startsWith('unreachable: ')
      ? undefined
      : "raises a plain Error; only 'unreachable: …' may be one";
  },
  enumeration: (node) => (ts.isEnumDeclaration(node) ? 'declares an enum; use a union' : undefined),
};

function findRealTime(node) {
  if (ts.isCallExpression(node)) {
    const called = node.expression;
    if (ts.isIdentifier(called) && timers.includes(called.text)) return called.text;
    if (ts.isPropertyAccessExpression(called) && called.getText() === 'Date.now') return 'Date.now';
  }
  if (ts.isNewExpression(node) && node.expression.getText() === 'Date') {
    return (node.arguments?.length ?? 0) === 0 ? 'new Date()' : undefined;
  }
  if (ts.isImportDeclaration(node)) {
    const name = textOf(node.moduleSpecifier);
    return name === 'node:timers' || name === 'node:timers/promises' ? name : undefined;
  }
  return undefined;
}
