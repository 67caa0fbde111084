import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createFileStore } from '../file-store.js';
import type { Store } from '../store.js';

/** A file store on a folder that goes with the test. */
export async function temporaryStore(): Promise<{
  readonly dataDir: string;
  readonly store: Store;
}> {
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  const store = createFileStore({ dataDir });
  onTestFinished(async () => {
    await store[Symbol.asyncDispose]();
    await rm(dataDir, { recursive: true, force: true });
  });
  return { dataDir, store };
}
