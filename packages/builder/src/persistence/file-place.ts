import { lstatSync } from 'node:fs';
import { readError, StateUnusableError } from '@holdfast/agent';
import { plainFolders } from './one-go.js';
import type { StoreKey } from './store.js';

/**
 * Where a key stands below the data directory. A symbolic link anywhere on the way is a `StateUnusableError`: it would
 * lead reads and writes elsewhere. Looked at in each go, since a remembered folder may have become a link.
 */
export function placeOf(root: string, key: StoreKey): string {
  return findPlace(root, key).path;
}

/** The same, and whether anything stands there. */
export function findPlace(
  root: string,
  key: StoreKey,
): { readonly path: string; readonly isThere: boolean } {
  // The root may be a link: its owner chose it.
  if (key.length === 0) return { path: root, isThere: true };
  const folder = folderOf(root, key);
  const path = pathOf(root, key);
  return { path, isThere: folder !== undefined && isThere(path) };
}

/** The same for who opens it without following a link: the place itself is not looked at. */
export function openPlaceOf(root: string, key: StoreKey): string {
  folderOf(root, key);
  return pathOf(root, key);
}

/** A key's segments are plain names, so that there is nothing to resolve. */
function pathOf(root: string, key: StoreKey): string {
  return `${root}/${key.join('/')}`;
}

/** The folder in which a key's place is; `undefined` where it is not there. */
function folderOf(root: string, key: StoreKey): string | undefined {
  const plain = plainFolders();
  let path = root;
  for (const segment of key.slice(0, -1)) {
    path = `${path}/${segment}`;
    if (plain.has(path)) continue;
    if (!isThere(path)) return undefined;
    plain.add(path);
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

function isThere(path: string): boolean {
  const stats = look(path);
  if (stats?.isSymbolicLink()) throw linkRefused(path);
  return stats !== undefined;
}

function look(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw readError(path, error);
  }
}
