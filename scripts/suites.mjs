import { join } from 'node:path';
import { root } from './run-command.mjs';

const node = process.execPath;
const bin = (name) => join(root, 'node_modules', '.bin', name);
const script = (name) => [node, `scripts/${name}.mjs`];
const nodeTest = (...files) => [node, '--test', '--test-reporter=tap', ...files];

/** Where vitest leaves its report: it prints no line that says how many tests ran. */
export const vitestReport = join(root, '.cache', 'vitest.json');

const unit = [
  bin('vitest'),
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${vitestReport}`,
];

/** A row of a real CLI that failed is run once more, alone; see docs/decisions/0012-a-second-try.md. */
const retry = ['--retry', '1'];

/**
 * Everything that `npm test` runs. Stages follow each other; the lanes of a stage run side by side, one a core.
 * `counts`: a suite's tests are the step itself, its closing line, vitest's report or node:test's TAP.
 * `budgetSeconds` is what the suite may need on two idle cores; past four times that it is ended as hanging.
 */
export const stages = [
  [
    [suite('build', 60, script('build'))],
    [
      suite('lint', 20, [bin('biome'), 'ci', '--colors=off', '.']),
      suite('boundaries', 20, script('check-boundaries')),
      suite('structure', 10, script('check-structure')),
      suite('unused', 20, [bin('knip')]),
      suite('docs', 30, script('check-docs')),
    ],
  ],
  [
    [
      suite('typecheck', 60, [bin('tsc'), '-p', 'tsconfig.json']),
      suite('gates', 90, nodeTest('scripts/gates.test.mjs', 'scripts/failed-tests.test.mjs'), {
        counts: 'tap',
      }),
    ],
    [suite('packages', 90, script('check-packages'), { needsBuild: true })],
  ],
  [[suite('unit', 540, unit, { counts: 'vitest' })]],
  [
    [
      endToEnd(
        'certify',
        720,
        '--through-agent',
        'seed',
        '--depth',
        'core',
        '--jobs',
        '3',
        ...retry,
      ),
      suite(
        'nodes',
        120,
        [...script('certify'), '--node', '22,24', '--depth', 'smoke', '--jobs', '3', ...retry],
        {
          counts: 'last-line',
          needsBuild: true,
        },
      ),
      endToEnd('planted', 360, '--jobs', '3'),
      endToEnd('faults', 240, '--kills', '40', '--seed', '7'),
      suite(
        'workflow-faults',
        100,
        [node, 'e2e/dist/faults.js', '--workflows', '--kills', '12', '--seed', '7', '--jobs', '3'],
        { counts: 'last-line', needsBuild: true },
      ),
      endToEnd('fuzz', 150, '--jobs', '3', '--runs', '8'),
      endToEnd('demo', 90),
      program('workflow-demo', 90, 'demo', 'workflow'),
      program('threads-demo', 90, 'demo', 'threads'),
      endToEnd('threads', 90),
      endToEnd('coding-faults', 240, '--jobs', '3', ...retry),
      program('builder', 120, 'certify', '--builder', '--jobs', '2', '--retry', '1'),
      endToEnd('bad-input', 120),
      endToEnd('cases', 240, '--depth', 'core', '--jobs', '4', ...retry),
      endToEnd('pages', 120, '--jobs', '4', ...retry),
      endToEnd('tmux-loss', 60, '--self-test'),
    ],
  ],
];

function suite(name, budgetSeconds, command, { counts = 'step', needsBuild = false } = {}) {
  return { name, budgetSeconds, command, counts, needsBuild };
}

/** Real CLIs in real tmux share the two cores badly: these run one at a time. */
function endToEnd(name, budgetSeconds, ...args) {
  return program(name, budgetSeconds, name, ...args);
}

/** A suite that is another side of a program of that name. */
function program(name, budgetSeconds, file, ...args) {
  const command = [node, `e2e/dist/${file}.js`, ...args];
  return suite(name, budgetSeconds, command, { counts: 'last-line', needsBuild: true });
}
