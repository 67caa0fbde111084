import { existsSync, readFileSync } from 'node:fs';

/** Reads how many tests a finished suite passed and failed. A suite that ran none, or hid a failure, has failed one. */
export function countTests({ counts, status, stdout, reportFile }) {
  const counted = readers[counts]({ status, stdout, reportFile });
  if (counted === undefined)
    return { passed: 0, failed: 1, note: 'it did not say how many tests ran' };
  if (counted.passed + counted.failed === 0)
    return { passed: 0, failed: 1, note: 'it ran no test' };
  if (status !== 0 && counted.failed === 0) {
    return { ...counted, failed: 1, note: `it ended with exit status ${status}` };
  }
  return counted;
}

/** Reads the closing line `N passed, N failed` if `line` is one. */
export function readClosingLine(line) {
  const match = /^(\d+) passed, (\d+) failed$/.exec(line.trim());
  return match ? { passed: Number(match[1]), failed: Number(match[2]) } : undefined;
}

/** Reads `flaky: N`, which stands before the closing line where a second try was allowed. */
export function readFlakyLine(line) {
  const match = /^flaky: (\d+)$/.exec(line.trim());
  return match ? Number(match[1]) : undefined;
}

/** More than this many that passed only at a second try make a suite fail. */
const MAX_FLAKY = 3;

/** The sum of several runs: their closing counts, and how many were flaky where any of them allowed a second try. */
export function addUpRuns(runs) {
  const total = (field) => runs.reduce((sum, run) => sum + (run[field] ?? 0), 0);
  const hasFlaky = runs.some(({ flaky }) => flaky !== undefined);
  const [passed, failed, flaky] = ['passed', 'failed', 'flaky'].map(total);
  if (flaky <= MAX_FLAKY) return { passed, failed, ...(hasFlaky && { flaky }) };
  return { passed: passed - flaky, failed: failed + flaky, flaky };
}

const readers = {
  step: ({ status }) => (status === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }),
  'last-line': ({ stdout }) => readClosingLine(stdout.trimEnd().split('\n').at(-1) ?? ''),
  tap: ({ stdout }) => readTapTotals(stdout),
  vitest: ({ reportFile }) => readVitestReport(reportFile),
};

function readTapTotals(stdout) {
  const total = (name) => new RegExp(`^# ${name} (\\d+)$`, 'm').exec(stdout)?.[1];
  const [passed, failed, cancelled] = ['pass', 'fail', 'cancelled'].map(total);
  if (passed === undefined || failed === undefined) return undefined;
  return { passed: Number(passed), failed: Number(failed) + Number(cancelled ?? 0) };
}

function readVitestReport(reportFile) {
  if (!existsSync(reportFile)) return undefined;
  const report = JSON.parse(readFileSync(reportFile, 'utf8'));
  // A file that cannot be loaded fails without a test of its own.
  const unloaded = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  );
  return { passed: report.numPassedTests, failed: report.numFailedTests + unloaded.length };
}
