import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { acquireBuildLock } from './build-lock.mjs';
import { root, runCommand } from './run-command.mjs';

/** In the order of the layers: the declarations of one are read while the next is built. */
const packages = ['packages/provider-core', 'packages/agent', 'packages/builder'];
const shared = ['tsup.preset.ts', 'tsconfig.base.json', 'pnpm-lock.yaml'];
const stampFolder = join(root, '.cache', 'build');

/**
 * Builds every package and the end-to-end programs whose sources changed since their last build.
 * The old dist stays in place until the new one is complete, so a program that runs from it is not torn.
 */
export async function buildWorkspace({ onProgress, e2e = true }) {
  const release = await acquireBuildLock(join(root, '.cache', 'build.lock'));
  try {
    await Promise.all([
      buildPackages(onProgress),
      e2e ? buildFolder('e2e', '', onProgress) : undefined,
    ]);
  } finally {
    release();
  }
}

async function buildPackages(onProgress) {
  let below = '';
  for (const folder of packages) below = await buildFolder(folder, below, onProgress);
}

async function buildFolder(folder, below, onProgress) {
  if (!existsSync(join(root, folder, 'src'))) return below;
  const digest = digestOfSources(folder, below);
  const stamp = join(stampFolder, folder.replace('/', '-'));
  const isCurrent = existsSync(stamp) && readFileSync(stamp, 'utf8') === digest;
  if (isCurrent && existsSync(join(root, folder, 'dist'))) return digest;

  onProgress(`Building ${folder} …`);
  await runTsup(folder);
  mkdirSync(stampFolder, { recursive: true });
  writeFileSync(stamp, digest);
  return digest;
}

async function runTsup(folder) {
  const cwd = join(root, folder);
  // Beside dist and not elsewhere, since source maps name their sources relative to it.
  const fresh = `.dist-${process.pid}`;
  const tsup = join(root, 'node_modules', 'tsup', 'dist', 'cli-default.js');
  try {
    const command = [process.execPath, tsup, '--out-dir', fresh];
    const { status, output } = await runCommand(command, { cwd });
    if (status !== 0) throw new Error(`${folder} did not build.\n${output.trim()}`);
    await swapFolders(join(cwd, fresh), join(cwd, 'dist'), join(cwd, `.dist-old-${process.pid}`));
  } finally {
    await rm(join(cwd, fresh), { recursive: true, force: true });
  }
}

async function swapFolders(fresh, current, old) {
  if (existsSync(current)) await rename(current, old);
  await rename(fresh, current);
  await rm(old, { recursive: true, force: true });
}

function digestOfSources(folder, below) {
  const hash = createHash('sha256').update(below);
  const own = ['package.json', 'tsup.config.ts'].map((name) => `${folder}/${name}`);
  const sources = readdirSync(join(root, folder, 'src'), { recursive: true })
    .filter((name) => name.endsWith('.ts') && !name.includes('__fixtures__'))
    .filter((name) => folder === 'e2e' || !/\.test(-d)?\.ts$/.test(name))
    .map((name) => `${folder}/src/${name}`);
  for (const file of [...shared, ...own, ...sources].sort()) {
    hash.update(file).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

const isProgram =
  process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isProgram) {
  try {
    await buildWorkspace({ onProgress: (line) => process.stderr.write(`${line}\n`) });
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
