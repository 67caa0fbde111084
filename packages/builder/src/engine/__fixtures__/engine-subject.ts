import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileStore } from '../../persistence/file-store.js';
import type { Store } from '../../persistence/store.js';
import { createJobEngine } from '../file-job-engine.js';
import type { JobEngine } from '../job-engine.js';
import type { JobEngineSubject, JobHolder } from '../test-job-engine.js';
import type { HolderProcesses } from './holder-process.js';

const POLL_MS = 50;

/** Engines on a file store of their own, for the conformance suite. `wrap` plants a fault. */
export async function createEngineSubject(
  processes: HolderProcesses,
  wrap: (store: Store) => Store = (store) => store,
): Promise<JobEngineSubject> {
  const dataDir = await mkdtemp(join(processes.folder, 'data-'));
  const engines: JobEngine[] = [];
  const holders: JobHolder[] = [];
  return {
    open: async () => {
      const engine = createJobEngine(wrap(createFileStore({ dataDir })), { pollMs: POLL_MS });
      engines.push(engine);
      return engine;
    },
    spawnHolder: async () => {
      const holder = await processes.spawn({ dataDir, pollMs: POLL_MS });
      holders.push(holder);
      return holder;
    },
    damage: (queue, id) => writeFile(join(dataDir, 'engine', queue, 'jobs', `${id}.json`), '{"ha'),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(holders.map((holder) => holder.kill()));
      await Promise.all(engines.map((engine) => engine.stop()));
    },
  };
}
