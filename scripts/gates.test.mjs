import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { copyCheckout } from './checkout-copy.mjs';
import { addUpRuns, countTests } from './count-tests.mjs';
import { readPinnedClis } from './fetch-clis.mjs';
import { plants } from './planted-violations.mjs';
import { findMissingPrerequisites } from './prerequisites.mjs';

const node = process.execPath;
const gates = {
  lint: ['node_modules/.bin/biome', 'ci', '--colors=off', '.'],
  typecheck: [node, 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.json', '--pretty', 'false'],
  boundaries: [node, 'scripts/check-boundaries.mjs'],
  structure: [node, 'scripts/check-structure.mjs'],
  unused: ['node_modules/.bin/knip'],
  docs: [node, 'scripts/check-docs.mjs'],
};

describe('a gate fails on a planted violation', () => {
  const copy = copyCheckout();
  after(() => copy.dispose());

  for (const [gate, command] of Object.entries(gates)) {
    const ownPlants = plants.filter(([name]) => name === gate).map(withOwnFile);
    let run;
    // All violations of a gate stand side by side and the gate runs once: each must be reported.
    before(async () => {
      const restore = plantAll(copy, ownPlants);
      run = await copy.run(...command);
      restore();
    });
    for (const { what, expected } of ownPlants) {
      it(`${gate} catches ${what}`, () => {
        assert.notEqual(run.status, 0);
        assert.match(run.output, expected);
      });
    }
  }

  it('boundaries fails when dependency-cruiser reads nothing', async () => {
    const rules = copy.read('scripts/dependency-rules.mjs');
    const blind = rules
      .replace("extensions: ['.ts', ", 'extensions: [')
      .replace('__fixtures__', '.*');
    copy.write('scripts/dependency-rules.mjs', blind);
    const { status, output } = await copy.run(...gates.boundaries);
    copy.write('scripts/dependency-rules.mjs', rules);
    assert.notEqual(status, 0);
    assert.match(output, /blind: read/);
  });
});

describe('what is built and run fails on a planted violation', () => {
  const copy = copyCheckout({ withBuild: true });
  after(() => copy.dispose());
  const plantAndRun = async (path, text, ...command) => {
    const original = copy.read(path);
    copy.write(path, text(original ?? ''));
    const run = await copy.run(...command);
    if (original === undefined) copy.remove(path);
    else copy.write(path, original);
    return run;
  };

  it('packages catches an export without its file', async () => {
    const plant = (manifest) => manifest.replace('./dist/index.js', './dist/gone.js');
    const path = 'packages/agent/package.json';
    const { status, output } = await plantAndRun(path, plant, node, 'scripts/check-packages.mjs');
    assert.notEqual(status, 0);
    assert.match(output, /gone\.js/);
  });

  it('packages catches a README example that fails when it runs', async () => {
    const plant = (readme) => `\`\`\`ts run\nthrow new TypeError('planted');\n\`\`\`\n${readme}`;
    const { status, output } = await plantAndRun(
      'README.md',
      plant,
      node,
      'scripts/check-packages.mjs',
    );
    assert.notEqual(status, 0);
    assert.match(output, /could not run the example at README\.md:1[\s\S]*TypeError: planted/);
  });

  it('unit catches a failing test', async () => {
    const plant = () =>
      "import { expect, it } from 'vitest';\nit('adds', () => expect(1).toBe(2));\n";
    const path = 'packages/agent/src/planted.test.ts';
    const vitest = [node, 'node_modules/vitest/vitest.mjs', 'run', '--project', 'agent', 'planted'];
    const { status, output } = await plantAndRun(path, plant, ...vitest);
    assert.notEqual(status, 0);
    assert.match(output, /1 failed/);
  });
});

function withOwnFile([gate, what, path, text, expected, others = {}], index) {
  const own = `planted-${index}.ts`;
  const source = expected.source.replaceAll('planted\\.ts', own.replace('.', '\\.'));
  return {
    gate,
    what,
    path: path.replace('planted.ts', own),
    text,
    others,
    expected: new RegExp(source),
  };
}

/** Appends each violation to what its file holds; gives the function that puts everything back. */
function plantAll(copy, ownPlants) {
  const originals = new Map();
  const write = (path, text) => {
    if (!originals.has(path)) originals.set(path, copy.read(path));
    copy.write(path, text);
  };
  for (const { path, text, others } of ownPlants) {
    for (const [name, content] of Object.entries(others)) write(name, content);
    if (text !== undefined) write(path, (copy.read(path) ?? '') + text);
  }
  return () => {
    for (const [path, text] of originals) {
      if (text === undefined) copy.remove(path);
      else copy.write(path, text);
    }
  };
}

describe('a suite cannot pass by running nothing', () => {
  const suites = [
    ['a closing line of zero', { counts: 'last-line', status: 0, stdout: '0 passed, 0 failed\n' }],
    ['no closing line', { counts: 'last-line', status: 0, stdout: 'done\n' }],
    [
      'an exit status beside a good closing line',
      { counts: 'last-line', status: 1, stdout: '3 passed, 0 failed\n' },
    ],
    ['a TAP report without tests', { counts: 'tap', status: 0, stdout: '# pass 0\n# fail 0\n' }],
    [
      'a missing vitest report',
      { counts: 'vitest', status: 0, stdout: '', reportFile: 'no-such-file' },
    ],
    ['a step that fails', { counts: 'step', status: 2, stdout: '' }],
  ];
  for (const [what, outcome] of suites) {
    it(`counts a failure for ${what}`, () => assert.ok(countTests(outcome).failed > 0));
  }

  it('adds up what ran', () => {
    const outcome = { counts: 'last-line', status: 0, stdout: 'x\n3 passed, 0 failed\n' };
    assert.deepEqual(countTests(outcome), { passed: 3, failed: 0 });
  });

  it('fails what was flaky on all Nodes together when that is more than three', () => {
    const few = { passed: 14, failed: 0, flaky: 1 };
    const many = { passed: 14, failed: 0, flaky: 3 };
    assert.deepEqual(addUpRuns([few, few]), { passed: 28, failed: 0, flaky: 2 });
    assert.deepEqual(addUpRuns([few, many]), { passed: 24, failed: 4, flaky: 4 });
    assert.deepEqual(addUpRuns([{ passed: 3, failed: 0 }]), { passed: 3, failed: 0 });
  });

  it('counts a vitest file that could not be loaded', () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-report-'));
    const reportFile = join(folder, 'vitest.json');
    const testResults = [{ status: 'failed', assertionResults: [] }];
    writeFileSync(
      reportFile,
      JSON.stringify({ numPassedTests: 2, numFailedTests: 0, testResults }),
    );
    const outcome = { counts: 'vitest', status: 1, stdout: '', reportFile };
    assert.deepEqual(countTests(outcome), { passed: 2, failed: 1 });
    rmSync(folder, { recursive: true });
  });
});

describe('what the machine lacks is said in one sentence', () => {
  const have = { git: 'git version 2.39.5\n', tmux: 'tmux 3.3a\n' };
  const probe = (tools) => (name) => tools[name];

  it('says nothing when all is there', () => {
    assert.deepEqual(findMissingPrerequisites(probe(have)), []);
    assert.deepEqual(findMissingPrerequisites(probe({ ...have, tmux: 'tmux next-3.6\n' })), []);
  });

  it('names the tool and what to do', () => {
    const sentences = [
      ...findMissingPrerequisites(probe({ ...have, tmux: undefined })),
      ...findMissingPrerequisites(probe({ ...have, tmux: 'tmux 3.1c\n' })),
      ...findMissingPrerequisites(probe({ ...have, git: undefined })),
      ...findMissingPrerequisites(probe(have), '20.18.3'),
    ];
    assert.equal(sentences.length, 4);
    for (const sentence of sentences) assert.match(sentence, /^(tmux|git|Node) .*install .*\.$/);
  });

  it('names a platform that no CLI is pinned for', () => {
    assert.throws(() => readPinnedClis('sunos-sparc'), /sunos-sparc/);
  });
});
