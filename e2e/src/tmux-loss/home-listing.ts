import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** Every file below some paths, with what it holds: path to mode and sha256. */
export type HomeListing = ReadonlyMap<string, string>;

/** Lists files and folders below the paths, hashed. Read-only; what is not there is left out. */
export async function listHome(paths: readonly string[]): Promise<HomeListing> {
  const listing = new Map<string, string>();
  for (const path of paths) await addTo(listing, path);
  return listing;
}

/** The paths whose entry differs between two listings. */
export function findChanges(before: HomeListing, after: HomeListing): readonly string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).sort();
}

async function addTo(listing: Map<string, string>, path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return;
  const mode = (found.mode & 0o7777).toString(8);
  if (found.isDirectory()) {
    listing.set(path, `folder ${mode}`);
    for (const name of await readdir(path)) await addTo(listing, join(path, name));
  } else if (found.isSymbolicLink()) {
    listing.set(path, `link ${await readlink(path)}`);
  } else if (found.isFile()) {
    listing.set(path, `${mode} ${await hashFile(path)}`);
  }
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
