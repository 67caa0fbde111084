import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildProgram } from '../../persistence/__fixtures__/build-program.js';

/** What a script may import: the builder, its sessions on files, and how to wait. */
const LIBRARY = `
export * from '#src/index.ts';
export * from '#src/builder-tests/__fixtures__/file-world.ts';
export { waitUntil } from '#agent';
`;

/** Scripts that use a builder as its user would, each a real process: they run its bundle, since Node 20 runs no TypeScript. */
export interface BuilderProcesses extends AsyncDisposable {
  readonly folder: string;
  /** Starts a script, the body of an async module; its arguments are in `args`. */
  readonly start: (script: string, ...args: readonly string[]) => Promise<ChildProcess>;
}

/** What every script has. */
const HEAD = `
import { appendFileSync, writeSync } from 'node:fs';
import { createBuilder, defineWorkflow, openFileWorld, waitUntil } from './builder/builder.mjs';
const [dir, ...args] = process.argv.slice(2);
const say = (line) => writeSync(1, line + '\\n');
const makeOptions = (more = {}) => {
  const sessions = openFileWorld(dir + '/world');
  const coder = { provider: 'claude-code', workingDir: dir, stateDir: dir + '/state', sessions };
  return { dataDir: dir + '/data', agents: { coder }, ...more };
};
`;

/** Bundles the builder once. */
export async function bundleBuilder(): Promise<BuilderProcesses> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-'));
  await buildProgram(folder, 'builder', LIBRARY);
  let count = 0;
  return {
    folder,
    start: async (script, ...args) => {
      const path = join(folder, `script-${(count += 1)}.mjs`);
      await writeFile(path, HEAD + script);
      return spawn(process.execPath, [path, ...args], {
        stdio: ['pipe', 'pipe', 'inherit'],
        env: {},
      });
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** What a process said, and its exit code or the signal that ended it. */
export async function endOf(child: ChildProcess) {
  let said = '';
  child.stdout?.on('data', (chunk) => {
    said += String(chunk);
  });
  const [code, signal] = await once(child, 'close');
  return { said, end: signal ?? code };
}

/** Kills a process and waits until it is gone. */
export async function killHard(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
