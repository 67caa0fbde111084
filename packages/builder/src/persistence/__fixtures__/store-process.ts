import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

export { setFaultHook } from '../../../../provider-core/src/state/fault-point.js';

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** The optional peers: no store needs one. */
const OPTIONAL = [
  'ai',
  '@ai-sdk/openai',
  '@ai-sdk/anthropic',
  '@ai-sdk/google',
  '@ai-sdk/openai-compatible',
];

/** Does one thing with a store, given as a JSON list of a method and its arguments, and dies at the step it is told. */
const program = `
import { createFileStore, setFaultHook } from './out/store.js';
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
  const core = '../../../../provider-core/src/state/fault-point.ts';
  const parts = [
    `export { createFileStore } from ${JSON.stringify(pathOf('../file-store.ts'))};`,
    `export { setFaultHook } from ${JSON.stringify(pathOf(core))};`,
  ];
  await writeFile(join(folder, 'store.ts'), parts.join('\n'));
  await build({
    configFile: false,
    logLevel: 'silent',
    root: pathOf('..'),
    ssr: {
      noExternal: true,
      external: OPTIONAL,
      resolve: { conditions: ['@holdfast/source', 'node', 'module', 'default'] },
    },
    build: { ssr: join(folder, 'store.ts'), outDir: join(folder, 'out'), target: 'node20' },
  });
  await writeFile(join(folder, 'program.mjs'), program);
  return {
    folder,
    run: (options) => runProgram(join(folder, 'program.mjs'), options),
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
