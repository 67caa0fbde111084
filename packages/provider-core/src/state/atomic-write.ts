import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { syncFile } from './disk.js';
import { faultPoint } from './fault-point.js';
import { ensurePrivateDir } from './private-dir.js';
import { errorCode, isAbsentError, readError, writeError } from './state-error.js';

/** How a file is written in one step. */
export interface AtomicWriteOptions {
  /** 0600 when absent. */
  readonly mode?: number | undefined;
  /** Whether it must survive a power cut; true when absent. */
  readonly durable?: boolean | undefined;
  /** Called when only the last step is left; what it throws, or rejects with, stops the write, and nothing has changed. */
  readonly beforeInstall?: (() => void | Promise<void>) | undefined;
}

/**
 * Replaces the file in one step that survives a crash and, unless `durable` is false, a power cut:
 * temporary file, fsync, rename, fsync of the folder. A failure is a `StateUnusableError` and leaves
 * the old file whole.
 */
export async function writeFileAtomic(
  path: string,
  content: string,
  options: AtomicWriteOptions = {},
): Promise<void> {
  await installFile({ path, content, install: replaceFile }, options);
}

/** The same where nothing stands yet: of all writers in all processes one gets `true`, the others change nothing. */
export async function createFileAtomic(
  path: string,
  content: string,
  options: AtomicWriteOptions = {},
): Promise<boolean> {
  return installFile({ path, content, install: linkFile }, options);
}

interface NewFile {
  readonly path: string;
  readonly content: string;
  readonly install: (temporary: string, path: string) => boolean;
}

async function installFile(
  { path, content, install }: NewFile,
  { mode = 0o600, durable = true, beforeInstall }: AtomicWriteOptions,
): Promise<boolean> {
  const folder = dirname(path);
  await ensurePrivateDir(folder);
  const temporary = join(folder, temporaryName(basename(path)));
  try {
    await writeNew(temporary, content, { mode, durable });
    const isAllowed = beforeInstall?.();
    // Not awaited where there is nothing to await: nothing may come between a check and what it allows.
    if (isAllowed) await isAllowed;
    const isInstalled = install(temporary, path);
    faultPoint('atomic-write:renamed');
    if (!durable) return isInstalled;
    await syncDir(folder);
    faultPoint('atomic-write:folder-synced');
    return isInstalled;
  } catch (error) {
    removeIfThere(temporary);
    throw writeError(path, error);
  }
}

/** Unique, so that two writers can never install a mix of both, and short enough for every file system. */
function temporaryName(name: string): string {
  return `.${name.slice(0, 60)}.${randomBytes(8).toString('hex')}.tmp`;
}

function replaceFile(temporary: string, path: string): boolean {
  renameSync(temporary, path);
  return true;
}

/** A link fails where a rename would overwrite. */
function linkFile(temporary: string, path: string): boolean {
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    removeIfThere(temporary);
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was never made, or stands in nobody's way.
  }
}

async function writeNew(
  path: string,
  content: string,
  { mode, durable }: { readonly mode: number; readonly durable: boolean },
): Promise<void> {
  const file = openSync(path, 'wx', mode);
  try {
    faultPoint('atomic-write:created');
    writeFileSync(file, content);
    faultPoint('atomic-write:written');
    if (!durable) return;
    await syncFile(file);
    faultPoint('atomic-write:synced');
  } finally {
    closeSync(file);
  }
}

/** Makes the names in a folder durable. */
export async function syncDir(path: string): Promise<void> {
  let folder: number | undefined;
  try {
    folder = openSync(path, 'r');
    await syncFile(folder);
  } catch (error) {
    // Some file systems cannot sync a folder; there is nothing more to do there.
    if (!['EINVAL', 'ENOTSUP', 'EISDIR'].includes(errorCode(error) ?? '')) throw error;
  } finally {
    if (folder !== undefined) closeSync(folder);
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
  const text = readText(path);
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

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isAbsentError(error)) return undefined;
    throw readError(path, error);
  }
}

/** Gives a damaged file another name, which no earlier one has, and returns it. */
export async function moveAside(path: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const movedTo = damagedName(path, number);
    try {
      // A link first: it fails where a rename would overwrite.
      linkSync(path, movedTo);
      unlinkSync(path);
      return movedTo;
    } catch (error) {
      if (errorCode(error) === 'EEXIST') continue;
      // Another process has just moved it.
      const movedTo = isAbsentError(error) ? await findMovedAside(path) : undefined;
      if (movedTo !== undefined) return movedTo;
      throw writeError(path, error);
    }
  }
}

/** The first copy that was moved aside, where there is one: its content is still unknown, not gone. */
export async function findMovedAside(path: string): Promise<string | undefined> {
  const first = damagedName(path, 1);
  try {
    // Not read: it may be large.
    lstatSync(first);
    return first;
  } catch (error) {
    if (isAbsentError(error)) return undefined;
    throw readError(first, error);
  }
}

/** A name that would get too long for a file system is cut, and told from others by its digest. */
function damagedName(path: string, number: number): string {
  const name = basename(path);
  if (Buffer.byteLength(name) <= 240) return `${path}.damaged-${number}`;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return join(dirname(path), `${name.slice(0, 60)}~${digest}.damaged-${number}`);
}
