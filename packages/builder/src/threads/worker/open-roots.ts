import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { workspaceRefused } from '../workspace/workspace-refused.js';

/**
 * Makes sure that each writable root stands in the work tree itself: what confines a CLI would follow a link of the
 * repository to wherever it leads, and opens no folder that is not there.
 */
export async function openRoots(workTree: string, roots: readonly string[]): Promise<void> {
  for (const root of roots) {
    let path = workTree;
    for (const part of root.split('/')) {
      path = join(path, part);
      await openRoot(path, root);
    }
  }
}

async function openRoot(path: string, root: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSymbolicLink()) throw refused(root, 'leads through a link of the repository');
  if (found) return;
  try {
    await mkdir(path, { mode: 0o700 });
  } catch {
    throw refused(root, 'stands below a file of the repository');
  }
}

function refused(root: string, why: string): Error {
  return workspaceRefused(`The writable root ${root} ${why}.`, { root });
}
