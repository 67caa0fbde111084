import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runCommand } from './run-command.mjs';

const stampFile = join(root, 'node_modules', '.holdfast-installed');

/** The command line of the pinned pnpm; npx fetches it once, so nothing has to be installed before. */
export function pnpmCommand(...args) {
  // Inside `pnpm run` it is on the PATH already, and starting npx again would cost a second.
  if (process.env.npm_config_user_agent?.startsWith('pnpm/')) return ['pnpm', ...args];
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return ['npx', '--yes', '--prefer-offline', packageManager, ...args];
}

/** Installs what the lockfile says, exactly; does nothing when node_modules already holds it. */
export async function installDependencies({ onProgress }) {
  const wanted = digestOfManifests();
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return;
  onProgress('Installing the dependencies (a minute on the first run) …');
  const { status, output } = await runCommand(
    pnpmCommand('install', '--frozen-lockfile', '--prefer-offline'),
  );
  if (status !== 0) {
    throw new Error(`The dependencies could not be installed (exit ${status}).\n${output.trim()}`);
  }
  writeFileSync(stampFile, wanted);
}

function digestOfManifests() {
  const packages = readdirSync(join(root, 'packages')).map(
    (name) => `packages/${name}/package.json`,
  );
  const files = [
    'pnpm-lock.yaml',
    'pnpm-workspace.yaml',
    'package.json',
    'e2e/package.json',
    ...packages,
  ];
  const hash = createHash('sha256');
  for (const file of files.sort()) hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}
