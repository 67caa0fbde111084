import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ensurePinnedClis } from './fetch-clis.mjs';
import { readExamples, readPages } from './markdown.mjs';
import { root, runCommand } from './run-command.mjs';

const RUN_LIMIT_MS = 120_000;
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const npmInstall = [
  'npm',
  'install',
  '--prefer-offline',
  '--no-audit',
  '--no-fund',
  '--ignore-scripts',
];

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
    '@holdfast/builder/conformance',
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
    ['install', () => run(folder, npmInstall)],
    ['type-check', () => run(folder, [process.execPath, tsc, '-p', '.'])],
    ...examples
      .filter(({ runs }) => runs)
      .map((example) => [
        `run the example at ${example.path}:${example.startsAt}`,
        () => runExample(folder, example),
      ]),
  ];
  for (const [what, step] of steps) {
    const { status, output } = await step();
    console.log(`${what}: exit ${status}\n${output.trim()}`);
    if (status !== 0) {
      return [`fresh project: could not ${what} (exit ${status})\n${output.trim()}`];
    }
  }
  return [];
}

function run(folder, command, env = process.env) {
  return runCommand(command, { cwd: folder, env, timeoutMs: RUN_LIMIT_MS });
}

/** With a temporary HOME of its own, short enough for a socket's path, and nothing else of this environment. */
async function runExample(folder, { name, code }) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'hf-')));
  try {
    const bin = await linkClis(home);
    const expected = /Remember the codeword (\w+)/.exec(code)?.[1] ?? 'Heard: ';
    const driver = [process.execPath, '--enable-source-maps', 'drive-example.mjs'];
    const env = { HOME: home, PATH: `${bin}:${process.env.PATH}`, LANG: 'C.UTF-8' };
    return await run(folder, [...driver, join(folder, 'out', `${name}.js`), expected], env);
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** The newest pinned CLI of each provider, under the name that a person types. */
async function linkClis(home) {
  const bin = join(home, 'bin');
  mkdirSync(bin);
  const list = process.env.HOLDFAST_CLIS;
  const clis = list ? JSON.parse(readFileSync(list, 'utf8')) : await ensurePinnedClis();
  const newest = new Map(clis.map(({ binary }) => [basename(binary), binary]));
  for (const [name, binary] of newest) symlinkSync(binary, join(bin, name));
  return bin;
}

function layProject(folder, tarballs, examples) {
  mkdirSync(join(folder, 'src'), { recursive: true });
  const dependencies = Object.fromEntries(
    tarballs.map((tarball) => [packageName(tarball), `file:${tarball}`]),
  );
  const manifest = { name: 'fresh-project', private: true, type: 'module', dependencies };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(readCompilerOptions(), null, 2));
  copyFileSync(join(root, 'scripts/drive-example.mjs'), join(folder, 'drive-example.mjs'));
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
