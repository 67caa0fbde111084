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
  await deleteTree(doomed);
}

/** Takes away what stands at a path that nothing works in; a name may be no text, so that a path may be bytes here. */
export async function deleteTree(path: string | Buffer): Promise<void> {
  await openFolders(path);
  await rm(path, { recursive: true, force: true });
}

/** The path of what stands in a folder. */
export function joinBytes(folder: string | Buffer, name: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder), Buffer.from('/'), Buffer.from(name)]);
}

/** A folder that its owner may not write cannot be emptied. */
async function openFolders(path: string | Buffer): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isDirectory()) return;
  await chmod(path, 0o700);
  for (const entry of await readdir(path, { withFileTypes: true, encoding: 'buffer' })) {
    if (entry.isDirectory()) await openFolders(joinBytes(path, entry.name));
  }
}

/** What an interrupted {@link removeTree} left beside a path. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.includes('.gone-')) continue;
    await deleteTree(join(folder, name));
  }
}
