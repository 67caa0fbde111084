import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { temporaryStore } from '../../../persistence/__fixtures__/temporary-store.js';
import type { Store } from '../../../persistence/store.js';
import type { CodingJobInput } from '../../coding-job.js';
import { nameThread } from '../thread-files.js';
import { createThreadStore, type ThreadStore } from '../thread-store.js';
import { place, trusted } from './thread-bench.js';

/** A store with its threads, and the one record of these tests. */
export interface Bench {
  readonly store: Store;
  readonly threads: ThreadStore;
  readonly path: string;
  readonly bytes: () => Promise<string>;
}

export async function bench(): Promise<Bench> {
  const { store, dataDir } = await temporaryStore();
  const path = join(dataDir, 'threads', nameThread(place));
  const bytes = () => readFile(path, 'utf8').catch(() => 'absent');
  return { store, threads: createThreadStore(store), path, bytes };
}

/** Expects a typed refusal that changes no byte. */
export async function expectRefusal(
  { threads, bytes }: Bench,
  job: CodingJobInput,
  expected: object,
  binding = trusted,
): Promise<void> {
  const before = await bytes();
  await expect(threads.open({ job, trusted: binding })).rejects.toMatchObject(expected);
  expect(await bytes()).toBe(before);
}

export async function checkpointOf(store: Store): Promise<string> {
  return (await createThreadStore(store).inspect(place))?.checkpoint ?? '';
}
