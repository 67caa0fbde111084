import { randomBytes } from 'node:crypto';
import { type FileHandle, link, open, readFile, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { faultPoint } from './fault-point.js';
import { ensurePrivateDir } from './private-dir.js';
import { errorCode, isAbsentError, readError, writeError } from './state-error.js';

/**
 * Replaces the file in one step that survives a crash and, unless `durable` is false, a power cut:
 * temporary file, fsync, rename, fsync of the folder. A failure is a `StateUnusableError` and leaves
 * the old file whole.
 */
export async function writeFileAtomic(
  path: string,
  content: string,
  { mode = 0o600, durable = true }: { readonly mode?: number; readonly durable?: boolean } = {},
): Promise<void> {
  const folder = dirname(path);
  await ensurePrivateDir(folder);
  // Unique, so that two writers can never install a mix of both.
  const temporary = join(folder, `.${basename(path)}.${randomBytes(8).toString('hex')}.tmp`);
  try {
    await writeNew(temporary, content, { mode, durable });
    await rename(temporary, path);
    faultPoint('atomic-write:renamed');
    if (!durable) return;
    await syncDir(folder);
    faultPoint('atomic-write:folder-synced');
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw writeError(path, error);
  }
}

async function writeNew(
  path: string,
  content: string,
  { mode, durable }: { readonly mode: number; readonly durable: boolean },
): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    faultPoint('atomic-write:created');
    await file.writeFile(content);
    faultPoint('atomic-write:written');
    if (!durable) return;
    await file.sync();
    faultPoint('atomic-write:synced');
  } finally {
    await file.close();
  }
}

/** Makes the names in a folder durable. */
export async function syncDir(path: string): Promise<void> {
  let folder: FileHandle | undefined;
  try {
    folder = await open(path, 'r');
    await folder.sync();
  } catch (error) {
    // Some file systems cannot sync a folder; there is nothing more to do there.
    if (!['EINVAL', 'ENOTSUP', 'EISDIR'].includes(errorCode(error) ?? '')) throw error;
  } finally {
    await folder?.close();
  }
}

/** What stands in a JSON file. `damaged` stays so until the file is written anew or the copy removed. */
export type JsonFile =
  | { readonly state: 'present'; readonly value: unknown }
  | { readonly state: 'absent' }
  | { readonly state: 'damaged'; readonly movedTo: string };

/**
 * Reads a JSON file. Text that is no JSON is moved aside and reported, never overwritten; a file
 * that cannot be read is a `StateUnusableError`, since unknown is not absent.
 */
export async function readJsonFile(path: string): Promise<JsonFile> {
  const text = await readText(path);
  if (text === undefined) {
    const movedTo = await findMovedAside(path);
    return movedTo === undefined ? { state: 'absent' } : { state: 'damaged', movedTo };
  }
  try {
    return { state: 'present', value: JSON.parse(text) };
  } catch {
    return { state: 'damaged', movedTo: await moveAside(path) };
  }
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isAbsentError(error)) return undefined;
    throw readError(path, error);
  }
}

/** Gives a damaged file another name, which no earlier one has, and returns it. */
export async function moveAside(path: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const movedTo = `${path}.damaged-${number}`;
    try {
      // A link first: it fails where a rename would overwrite.
      await link(path, movedTo);
      await unlink(path);
      return movedTo;
    } catch (error) {
      if (errorCode(error) === 'EEXIST') continue;
      // Another process has just moved it.
      if (isAbsentError(error) && number > 1) return `${path}.damaged-${number - 1}`;
      throw writeError(path, error);
    }
  }
}

/** The first copy that was moved aside, where there is one: its content is still unknown, not gone. */
export async function findMovedAside(path: string): Promise<string | undefined> {
  const first = `${path}.damaged-1`;
  return (await readText(first)) === undefined ? undefined : first;
}
