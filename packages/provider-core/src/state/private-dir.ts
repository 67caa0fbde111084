import { mkdir } from 'node:fs/promises';
import { writeError } from './state-error.js';

/** Makes the folder and its missing parents, readable by their owner alone. */
export async function ensurePrivateDir(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw writeError(path, error);
  }
}
