import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import type { JobHolder } from '../test-job-engine.js';

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** The optional peers: no engine needs one. */
const OPTIONAL = [
  'ai',
  '@ai-sdk/openai',
  '@ai-sdk/anthropic',
  '@ai-sdk/google',
  '@ai-sdk/openai-compatible',
];

const program = `
import { createFileStore, createJobEngine, holdJobs } from './out/engine.js';
const [dataDir, pollMs] = process.argv.slice(2);
const store = createFileStore({ dataDir });
await holdJobs(createJobEngine(store, { pollMs: Number(pollMs) }));
process.stdout.write('begun');
`;

/** Real processes with an engine each: they run its bundle, since Node 20 runs no TypeScript. */
export interface HolderProcesses extends AsyncDisposable {
  readonly folder: string;
  readonly spawn: (options: {
    readonly dataDir: string;
    readonly pollMs: number;
  }) => Promise<JobHolder>;
}

/** Builds the bundle once; disposing of it kills what still runs. */
export async function createHolderProcesses(): Promise<HolderProcesses> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-'));
  await buildBundle(folder);
  const living = new Set<ChildProcess>();
  const kill = async (child: ChildProcess) => {
    if (!living.delete(child)) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return {
    folder,
    spawn: async ({ dataDir, pollMs }) => {
      const args = [join(folder, 'holder.mjs'), dataDir, String(pollMs)];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env: {} });
      living.add(child);
      const [said] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
      if (String(said) !== 'begun') throw new TypeError(`the holder ended by itself: ${said}`);
      return { kill: () => kill(child) };
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...living].map(kill));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function buildBundle(folder: string): Promise<void> {
  const entry = join(folder, 'engine.ts');
  const parts = [
    `export { createFileStore } from ${JSON.stringify(pathOf('../../persistence/file-store.ts'))};`,
    `export { createJobEngine } from ${JSON.stringify(pathOf('../file-job-engine.ts'))};`,
    `export { holdJobs } from ${JSON.stringify(pathOf('../test-job-engine.ts'))};`,
  ];
  await writeFile(entry, parts.join('\n'));
  await build({
    configFile: false,
    logLevel: 'silent',
    root: pathOf('.'),
    ssr: {
      noExternal: true,
      external: OPTIONAL,
      resolve: { conditions: ['@holdfast/source', 'node', 'module', 'default'] },
    },
    build: { ssr: entry, outDir: join(folder, 'out'), target: 'node20' },
  });
  await writeFile(join(folder, 'holder.mjs'), program);
}
