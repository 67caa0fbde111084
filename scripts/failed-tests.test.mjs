import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findFailedTests, renderFailedTests } from './failed-tests.mjs';

describe('the tail of a log names what failed', () => {
  const programOutput = [
    'claude-code 1.0 tmux: CertSteer: Error: Waited for the tool.',
    '    at waitFor (file:///certify.js:38:40)',
    'ok      claude-code 1.0 tmux: CertUsage (3.0 s)',
    'FAILED  claude-code 1.0 tmux: CertSteer (61.2 s)',
    'again   codex-cli 1.0 tmux: CertUsage (2.0 s)',
    'codex-cli 1.0 tmux: CertUsage: lost',
    'flaky   codex-cli 1.0 tmux: CertUsage (1.0 s)',
    '2 passed, 1 failed',
  ].join('\n');
  const tapOutput = [
    '    not ok 1 - adds',
    '      ---',
    "      failureType: 'testCodeFailure'",
    '      error: |-',
    '        1 is not 2',
    "      code: 'ERR_ASSERTION'",
    '      ...',
    'not ok 1 - sums',
    '  ---',
    "  failureType: 'subtestsFailed'",
    '  ...',
  ].join('\n');

  it('finds the tests of a program with their errors, and those that a second try passed', () => {
    const found = findFailedTests({ counts: 'last-line', failed: 1, output: programOutput });
    assert.deepEqual(found, [
      {
        name: 'claude-code 1.0 tmux: CertSteer',
        error: ['Error: Waited for the tool.', '    at waitFor (file:///certify.js:38:40)'],
        isFlaky: false,
      },
      { name: 'codex-cli 1.0 tmux: CertUsage', error: ['lost'], isFlaky: true },
    ]);
  });

  it('finds the tests in TAP, without the suites around them', () => {
    const found = findFailedTests({ counts: 'tap', failed: 1, output: tapOutput });
    const error = ['error: |-', '1 is not 2', "code: 'ERR_ASSERTION'"];
    assert.deepEqual(found, [{ name: 'adds', error, isFlaky: false }]);
  });

  it('finds the tests in the report of vitest', () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-report-'));
    const reportFile = join(folder, 'vitest.json');
    const failed = { status: 'failed', fullName: 'a sum adds', failureMessages: ['1 is not 2'] };
    const passed = { status: 'passed', fullName: 'a sum is one', failureMessages: [] };
    const testResults = [
      { name: 'sum.test.ts', status: 'failed', assertionResults: [failed, passed] },
      { name: 'gone.test.ts', status: 'failed', message: 'no such module', assertionResults: [] },
    ];
    writeFileSync(reportFile, JSON.stringify({ testResults }));
    const found = findFailedTests({ counts: 'vitest', failed: 2, output: '', reportFile });
    rmSync(folder, { recursive: true });
    assert.deepEqual(
      found.map(({ name, error }) => [name, ...error]),
      [
        ['a sum adds', '1 is not 2'],
        ['gone.test.ts', 'no such module'],
      ],
    );
  });

  it('shows a suite that names no test by its first or its last lines', () => {
    const output = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'].join('\n');
    const [step] = findFailedTests({ counts: 'step', failed: 1, output });
    const [program] = findFailedTests({ counts: 'last-line', failed: 1, output });
    assert.deepEqual([step.error[0], program.error.at(-1)], ['one', 'seven']);
  });

  it('prints forty lines at most, and what failed before what was flaky', () => {
    const tests = Array.from({ length: 25 }, (_, index) => ({
      name: `test ${index}`,
      error: ['why', 'where'],
      isFlaky: index < 20,
    }));
    const lines = renderFailedTests([{ name: 'certify', tests }]);
    assert.equal(lines[0], 'FAILED  certify: test 20');
    assert.ok(lines.length <= 40);
    const few = renderFailedTests([{ name: 'certify', tests: tests.slice(-1) }]);
    assert.deepEqual(few, ['FAILED  certify: test 24', '          why', '          where']);
  });
});
