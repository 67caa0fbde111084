import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git, GitCommand, GitPlace } from './git.js';

/** An index that nobody else sees, with what is asked of it. */
export interface ScratchIndex extends AsyncDisposable {
  /** Runs a command on it. */
  readonly run: (args: readonly string[], more?: Partial<GitCommand>) => Promise<Buffer>;
  /** Stores what stands in it, and tells the tree's id. */
  readonly writeTree: () => Promise<string>;
}

/** Where a scratch index is made, and what stands in it first. */
export interface ScratchRequest {
  readonly place: GitPlace;
  readonly tree: string;
  readonly signal?: AbortSignal | undefined;
}

/** Opens an index of our own beside the git dir. It trusts no file's times: it knows none. */
export async function openScratchIndex(
  git: Git,
  { place, tree, signal }: ScratchRequest,
): Promise<ScratchIndex> {
  const folder = await mkdtemp(join(place.gitDir, 'scratch-'));
  const own = { ...place, indexFile: join(folder, 'index') };
  const run: ScratchIndex['run'] = (args, more) => git.run({ args, place: own, signal, ...more });
  const dispose = () => rm(folder, { recursive: true, force: true });
  try {
    await run(['read-tree', tree]);
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    run,
    writeTree: async () => (await run(['write-tree'])).toString('utf8').trim(),
    [Symbol.asyncDispose]: dispose,
  };
}
