import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readExamples, readPages } from './markdown.mjs';
import { root, runCommand } from './run-command.mjs';

const RUN_LIMIT_MS = 120_000;

/** Loads every entry point of the three packages as installed. */
const everyEntry = {
  name: 'every-entry',
  path: 'scripts/fresh-project.mjs',
  startsAt: 1,
  runs: true,
  code: [
    '@holdfast/provider-core',
    '@holdfast/provider-core/certification',
    '@holdfast/provider-core/wire',
    '@holdfast/agent',
    '@holdfast/builder',
  ]
    .map((entry) => `import '${entry}';`)
    .join('\n'),
};

/**
 * Does what a newcomer does: a new project, the packed tarballs installed by npm, the README's examples compiled
 * against what was installed, and those marked `ts run` executed. Returns what went wrong.
 */
export async function tryInFreshProject(folder, tarballs) {
  const readme = readPages().filter(({ path }) => path === 'README.md');
  const examples = [everyEntry, ...readme.flatMap(readExamples)];
  if (examples.length === 1) return ['fresh project: README.md has no ts block to try'];

  layProject(folder, tarballs, examples);
  const steps = [
    [
      'install',
      ['npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'],
    ],
    ['type-check', [process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '-p', '.']],
    ...examples
      .filter(({ runs }) => runs)
      .map(({ name, path, startsAt }) => [
        `run the example at ${path}:${startsAt}`,
        [process.execPath, '--enable-source-maps', `out/${name}.js`],
      ]),
  ];
  for (const [what, command] of steps) {
    const { status, output } = await runCommand(command, { cwd: folder, timeoutMs: RUN_LIMIT_MS });
    if (status !== 0)
      return [`fresh project: could not ${what} (exit ${status})\n${output.trim()}`];
  }
  return [];
}

function layProject(folder, tarballs, examples) {
  mkdirSync(join(folder, 'src'), { recursive: true });
  const dependencies = Object.fromEntries(
    tarballs.map((tarball) => [packageName(tarball), `file:${tarball}`]),
  );
  const manifest = { name: 'fresh-project', private: true, type: 'module', dependencies };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(readCompilerOptions(), null, 2));
  for (const { name, code } of examples) writeFileSync(join(folder, 'src', `${name}.ts`), code);
}

/** Strict, and with the declarations of the packages themselves checked. */
function readCompilerOptions() {
  return {
    compilerOptions: {
      target: 'ES2023',
      lib: ['ES2023', 'ESNext.Disposable'],
      module: 'NodeNext',
      strict: true,
      skipLibCheck: false,
      types: ['node'],
      typeRoots: [join(root, 'node_modules', '@types')],
      rootDir: 'src',
      outDir: 'out',
      sourceMap: true,
    },
    include: ['src'],
  };
}

function packageName(tarball) {
  return basename(tarball).replace(/^holdfast-(.+)-\d+\.\d+\.\d+.*\.tgz$/, '@holdfast/$1');
}
