import { existsSync, readFileSync } from 'node:fs';

const ERROR_LINES = 6;
const ALL_LINES = 40;

/**
 * Names every test of a finished suite that failed, or that passed only when it was tried again, with the first lines of
 * its error: `{ name, error, isFlaky }`. A suite that failed without naming one is named as a whole.
 */
export function findFailedTests({ counts, failed, output, reportFile, note }) {
  const found = finders[counts]({ output, reportFile });
  if (failed === 0 || found.some(({ isFlaky }) => !isFlaky)) return found;
  // A step tells first what is wrong; a program that broke down said so last.
  const lines = readLines(output);
  const error = counts === 'step' ? lines.slice(0, ERROR_LINES) : lines.slice(-ERROR_LINES);
  return [...found, { name: `the whole suite${note ? ` (${note})` : ''}`, error, isFlaky: false }];
}

/** The closing list of what failed: a line each, and as much of the errors as fits on a page. */
export function renderFailedTests(suites) {
  const found = suites
    .flatMap(({ name: suite, tests = [] }) => tests.map((test) => ({ ...test, suite })))
    .toSorted((one, other) => Number(one.isFlaky) - Number(other.isFlaky));
  const shown = found.length > ALL_LINES ? found.slice(0, ALL_LINES - 1) : found;
  const each = Math.min(ERROR_LINES, Math.floor(ALL_LINES / Math.max(1, shown.length)) - 1);
  const lines = shown.flatMap(({ suite, name, error, isFlaky }) => [
    `${isFlaky ? 'flaky ' : 'FAILED'}  ${suite}: ${name}`.slice(0, 300),
    ...error.slice(0, each).map((line) => `          ${line}`.slice(0, 300)),
  ]);
  const left = found.length - shown.length;
  return left > 0 ? [...lines, `… and ${left} more`] : lines;
}

const finders = {
  step: () => [],
  'last-line': ({ output }) => findInProgram(output.split('\n')),
  tap: ({ output }) => findInTap(output.split('\n')),
  vitest: ({ reportFile }) => findInVitestReport(reportFile),
};

const VERDICT = /^\s*(?:ok|FAILED|again|flaky)\s|^kept |^flaky: |^\d+ passed/;

/** Programs print `FAILED  title (1.2 s)`, and `title: error` on stderr, in either order. */
function findInProgram(lines) {
  return lines.flatMap((line) => {
    const [, verdict, title] = /^\s*(FAILED|flaky)\s+(.*?)(?: \([\d.]+ s\))?$/.exec(line) ?? [];
    if (title === undefined) return [];
    const at = lines.findIndex((other) => other.startsWith(`${title}: `));
    const rest = at === -1 ? [] : lines.slice(at);
    const end = rest.findIndex((other, index) => index > 0 && VERDICT.test(other));
    const error = rest.slice(0, end === -1 ? undefined : end).join('\n');
    const told = readLines(error.slice(title.length + 2)).slice(0, ERROR_LINES);
    return [{ name: title, error: told, isFlaky: verdict === 'flaky' }];
  });
}

/** A suite fails with its tests; only these are named. */
function findInTap(lines) {
  return lines.flatMap((line, index) => {
    const [, indent, name] = /^( *)not ok \d+ - (.*)$/.exec(line) ?? [];
    if (name === undefined) return [];
    const rest = lines.slice(index + 1);
    const end = rest.indexOf(`${indent}  ...`);
    const detail = rest.slice(0, end === -1 ? 0 : end);
    if (detail.some((other) => other.trim() === "failureType: 'subtestsFailed'")) return [];
    const from = detail.findIndex((other) => other.trimStart().startsWith('error:'));
    const error = readLines(detail.slice(Math.max(0, from)).join('\n')).slice(0, ERROR_LINES);
    return [{ name, error: error.map((one) => one.trim()), isFlaky: false }];
  });
}

function findInVitestReport(reportFile) {
  if (reportFile === undefined || !existsSync(reportFile)) return [];
  const { testResults } = JSON.parse(readFileSync(reportFile, 'utf8'));
  return testResults.flatMap(({ name: file, status, message, assertionResults }) => {
    const tests = assertionResults
      .filter((one) => one.status === 'failed')
      .map(({ fullName, failureMessages }) => toTest(fullName, failureMessages.join('\n')));
    const isUnloaded = status === 'failed' && assertionResults.length === 0;
    return isUnloaded ? [toTest(file, message)] : tests;
  });
}

function toTest(name, error) {
  return { name, error: readLines(error ?? '').slice(0, ERROR_LINES), isFlaky: false };
}

function readLines(text) {
  return text.split('\n').filter((line) => line.trim() !== '');
}
