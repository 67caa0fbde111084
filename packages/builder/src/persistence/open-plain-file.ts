import { type FileHandle, open } from 'node:fs/promises';
import { judgeOpenError, notPlain, READ_FLAGS } from './small-file.js';

/** Opens a plain file for reading; `undefined` where nothing stands. Anything else there is a `StateUnusableError`. */
export async function openPlainFile(path: string): Promise<FileHandle | undefined> {
  const file = await openAny(path);
  if (!file) return undefined;
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw notPlain(path);
}

async function openAny(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, READ_FLAGS);
  } catch (error) {
    return judgeOpenError(path, error);
  }
}
