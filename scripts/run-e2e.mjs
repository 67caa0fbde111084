import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildWorkspace } from './build.mjs';
import { clisFile, ensurePinnedClis } from './fetch-clis.mjs';
import { installDependencies } from './install.mjs';
import { requirePrerequisites } from './prerequisites.mjs';
import { root } from './run-command.mjs';
import { runOnNodes } from './run-on-nodes.mjs';

/**
 * Runs one end-to-end program from a bare clone: installs, builds and fetches what is missing, then hands over.
 * All progress goes to stderr, so that stdout holds the program's own lines alone.
 */
export async function runE2e(name, args = process.argv.slice(2), { nodes } = {}) {
  requirePrerequisites();
  try {
    const env = await prepareE2e({ args });
    // `--all` chooses which CLIs are fetched; the program runs those on the list it is given.
    const own = args.filter((arg) => arg !== '--all');
    const program = findProgram(name);
    process.exitCode = nodes
      ? await runOnNodes([program, ...own], { nodes, env, onProgress: reportProgress })
      : await runProgram([program, ...own], env);
  } catch (error) {
    reportProgress(error.message);
    process.exitCode = 1;
  }
}

/** Makes the programs of `e2e/dist` ready to run and resolves with the environment they expect. */
async function prepareE2e({ args = [], onProgress = reportProgress } = {}) {
  await installDependencies({ onProgress });
  await buildWorkspace({ onProgress });
  return { ...process.env, HOLDFAST_CLIS: await findClis(args, onProgress) };
}

async function findClis(args, onProgress) {
  // `--live` runs the person's own CLI; a list that the caller names is used as it is.
  const given = process.env.HOLDFAST_CLIS;
  if (given || args.includes('--live')) return given ?? '';
  await ensurePinnedClis({ all: args.includes('--all'), onProgress });
  return clisFile();
}

function findProgram(name) {
  const program = join(root, 'e2e', 'dist', `${name}.js`);
  if (!existsSync(program)) throw new Error(`e2e/src/${name}.ts does not exist.`);
  return program;
}

function runProgram(command, env) {
  const child = spawn(process.execPath, command, { cwd: root, env, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(signal ? 1 : code));
  });
}

function reportProgress(line) {
  process.stderr.write(`${line}\n`);
}
