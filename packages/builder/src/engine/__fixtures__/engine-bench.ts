import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createFileStore } from '../../persistence/file-store.js';
import type { Store } from '../../persistence/store.js';
import { createJobEngine } from '../file-job-engine.js';
import type { JobEngine, JobHandler, QueueOptions } from '../job-engine.js';
import { ManualClock } from './manual-clock.js';

/** Replaces parts of a store. */
export type Plant = (store: Store) => Partial<Store>;

/** Engines on one data directory whose time the test moves and whose store it may spoil. */
export async function createBench() {
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const clock = new ManualClock();
  const store = createFileStore({ dataDir });
  const warnings: string[] = [];
  const say = (_fields: unknown, message: string) => void warnings.push(message);
  const logger = { debug: say, info: say, warn: say, error: say, child: () => logger };
  const open = (handler?: JobHandler, plant: Plant = () => ({}), options?: QueueOptions): JobEngine => {
    const spoiled = { ...store, ...plant(store) };
    const engine = createJobEngine(spoiled, { clock, logger });
    if (handler) engine.handle('work', handler, options);
    onTestFinished(() => engine.stop());
    return engine;
  };
  return { dataDir, clock, store, warnings, open };
}
