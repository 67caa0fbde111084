import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { isAbsolute, join, normalize } from 'node:path';
import { workspaceRefused } from './workspace-refused.js';

/** Makes a folder for its owner alone, or takes one that stands there; a link or anything else is refused. */
export async function ensurePrivateFolder(path: string): Promise<void> {
  if (!isAbsolute(path) || normalize(path) !== path) {
    throw new TypeError(`${path} is no absolute path without detours.`);
  }
  await mkdir(path, { recursive: true, mode: 0o700 });
  const found = await lstat(path);
  if (!found.isDirectory() || found.uid !== process.getuid?.()) {
    throw workspaceRefused(`${path} is no folder of ours.`, { path });
  }
  await chmod(path, 0o700);
}

/**
 * Takes away whatever stands at a path, and what is below it, whatever its modes; a link in it is taken away and not
 * followed. It is moved first, so that a process which still works in it no longer works at this path.
 */
export async function removeTree(path: string): Promise<void> {
  const doomed = `${path}.gone-${randomUUID()}`;
  try {
    await rename(path, doomed);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    throw error;
  }
  await openFolders(doomed);
  await rm(doomed, { recursive: true, force: true });
}

/** A folder that its owner may not write cannot be emptied. A name may be no text, so that paths are bytes here. */
async function openFolders(path: string | Buffer): Promise<void> {
  if (!(await lstat(path)).isDirectory()) return;
  await chmod(path, 0o700);
  const parent = Buffer.concat([Buffer.from(path), Buffer.from('/')]);
  for (const entry of await readdir(path, { withFileTypes: true, encoding: 'buffer' })) {
    if (entry.isDirectory()) await openFolders(Buffer.concat([parent, entry.name]));
  }
}

/** What an interrupted {@link removeTree} left beside a path. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.includes('.gone-')) continue;
    await openFolders(join(folder, name));
    await rm(join(folder, name), { recursive: true, force: true });
  }
}
