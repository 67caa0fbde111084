import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { readError, StateUnusableError } from '@holdfast/agent';
import type { StoreKey } from './store.js';

/**
 * Where a key stands below the data directory. A symbolic link anywhere on the way is a `StateUnusableError`: it would
 * lead reads and writes elsewhere. Looked at each time, since a remembered folder may have become a link.
 */
export function placeOf(root: string, key: StoreKey): string {
  let path = root;
  for (const segment of key) {
    path = join(path, segment);
    const isLink = isSymbolicLink(path);
    if (isLink === 'absent') return join(root, ...key);
    if (isLink) throw linkRefused(path);
  }
  return path;
}

/** What a symbolic link below the data directory is answered with. */
export function linkRefused(path: string): StateUnusableError {
  return new StateUnusableError(
    path,
    'unreadable',
    'it is a symbolic link, and none is followed below the data directory. Nothing was changed.',
  );
}

function isSymbolicLink(path: string): boolean | 'absent' {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? 'absent';
  } catch (error) {
    throw readError(path, error);
  }
}
