import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode, isAbsentError, writeError } from './state-error.js';

/** Makes the folder and its missing parents, readable by their owner alone. */
export async function ensurePrivateDir(path: string): Promise<void> {
  ensurePrivateDirNow(path);
}

/** The same at once, for writes that must stay in the order of their calls. */
export function ensurePrivateDirNow(path: string): void {
  try {
    makeDir(path);
  } catch (error) {
    throw writeError(path, error);
  }
}

/** Not Node's `recursive`, which never returns where the system takes no folder (`/proc`, for one). */
function makeDir(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return;
    if (!isAbsentError(error) || dirname(path) === path) throw error;
    makeDir(dirname(path));
    makeLeaf(path);
  }
}

function makeLeaf(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}
