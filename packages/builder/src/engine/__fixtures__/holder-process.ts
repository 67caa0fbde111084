import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildProgram } from '../../persistence/__fixtures__/build-program.js';
import type { JobHolder } from '../test-job-engine.js';

const program = `
import { createFileStore } from '#src/persistence/file-store.ts';
import { createJobEngine } from '#src/engine/file-job-engine.ts';
import { holdJobs } from '#src/engine/test-job-engine.ts';
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
  const file = await buildProgram(folder, 'engine', program);
  const living = new Set<ChildProcess>();
  const kill = async (child: ChildProcess) => {
    if (!living.delete(child)) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return {
    folder,
    spawn: async ({ dataDir, pollMs }) => {
      const args = [file, dataDir, String(pollMs)];
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
