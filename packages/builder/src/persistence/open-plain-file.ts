import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { readError, StateUnusableError } from '@holdfast/agent';
import { linkRefused } from './file-place.js';

/** Follows no link, and does not wait for the other end of a pipe that stands there. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Opens a plain file for reading; `undefined` where nothing stands. Anything else there is a `StateUnusableError`. */
export async function openPlainFile(path: string): Promise<FileHandle | undefined> {
  const file = await openAny(path);
  if (!file) return undefined;
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new StateUnusableError(path, 'unreadable', 'it is no plain file.');
}

async function openAny(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, FLAGS);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP') throw linkRefused(path);
    throw readError(path, error);
  }
}
