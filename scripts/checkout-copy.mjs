import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root, runCommand } from './run-command.mjs';

/**
 * A copy of the working tree in a temporary folder, with the installed dependencies linked in, where a violation can be
 * planted without touching the checkout. `dispose()` removes it.
 */
export function copyCheckout({ withBuild = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-gates-'));
  for (const path of listFiles()) copyInto(folder, path);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const name of ['packages/provider-core', 'packages/agent', 'packages/builder', 'e2e']) {
    linkDependencies(folder, name);
    const dist = join(root, name, 'dist');
    if (withBuild && existsSync(dist))
      cpSync(dist, join(folder, name, 'dist'), { recursive: true });
  }
  // The structure check asks git which files belong to the project.
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
  appendFileSync(join(folder, '.git/info/exclude'), 'node_modules\n');
  return {
    folder,
    write: (path, text) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    },
    read: (path) =>
      existsSync(join(folder, path)) ? readFileSync(join(folder, path), 'utf8') : undefined,
    remove: (path) => rmSync(join(folder, path), { force: true, recursive: true }),
    run: (...command) =>
      runCommand(command, { cwd: folder, env: { ...process.env, NO_COLOR: '1' } }),
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function listFiles() {
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 };
  return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], options)
    .split('\n')
    .filter((path) => path !== '' && existsSync(join(root, path)));
}

function copyInto(folder, path) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  cpSync(join(root, path), join(folder, path), { verbatimSymlinks: true });
}

/** pnpm's links are relative, so a copied link to a sibling leads to the copied sibling. */
function linkDependencies(folder, name) {
  const from = join(root, name, 'node_modules');
  const skip = (path) => !/node_modules\/\.(bin|cache|vite)/.test(path);
  cpSync(from, join(folder, name, 'node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: skip,
  });
}
