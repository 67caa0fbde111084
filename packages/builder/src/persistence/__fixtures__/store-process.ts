import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildProgram } from './build-program.js';

export { setFaultHook } from '../../../../provider-core/src/state/fault-point.js';

/** Does one thing with a store, given as a JSON list of a method and its arguments, and dies at the step it is told. */
const program = `
import { createFileStore } from '#src/persistence/file-store.ts';
import { setFaultHook } from '#src/../../provider-core/src/state/fault-point.ts';
const [dataDir, call, step] = process.argv.slice(2);
const kill = () => process.kill(process.pid, 'SIGKILL');
setFaultHook((taken) => { if (taken === step) kill(); });
const store = createFileStore({ dataDir });
const [method, ...args] = JSON.parse(call);
try {
  const value = await store[method](...args);
  if (step === 'after') kill();
  process.stdout.write('done ' + JSON.stringify(value));
  await value?.lease?.release();
} catch (error) {
  process.stdout.write(String(error.reason ?? error.stack));
}
`;

/** Real processes that use a file store: they run its bundle, since Node 20 runs no TypeScript. */
export interface StoreProcess extends AsyncDisposable {
  readonly folder: string;
  /** What it said, or the signal that ended it. */
  readonly run: (options: RunOptions) => Promise<string>;
}

export interface RunOptions {
  readonly dataDir: string;
  readonly call: readonly unknown[];
  /** The crash point to die at; `after` the call, or never. */
  readonly dieAt?: string;
  readonly uid?: number | undefined;
}

/** Bundles the file store once. */
export async function bundleStore(): Promise<StoreProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-'));
  const file = await buildProgram(folder, 'program', program);
  return {
    folder,
    run: (options) => runProgram(file, options),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function runProgram(
  path: string,
  { dataDir, call, dieAt = 'never', uid }: RunOptions,
): Promise<string> {
  const child = spawn(process.execPath, [path, dataDir, JSON.stringify(call), dieAt], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {},
    ...(uid === undefined ? {} : { uid }),
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += String(chunk);
  });
  const [, signal] = await once(child, 'close');
  return signal ?? output;
}
