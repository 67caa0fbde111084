import { readFile } from 'node:fs/promises';
import type { GivenUp, TurnProcess } from '../../spec/turn-process.js';
import { isAbsentError, readError } from '../../state/state-error.js';
import { turnFiles } from './process-record.js';

/** Why the last turn's process gave up, where it said so. */
export async function readGivenUp(
  way: TurnProcess,
  filesDir: string,
): Promise<GivenUp | undefined> {
  const path = turnFiles(filesDir).errors;
  try {
    return way.readGivenUp(await readFile(path, 'utf8'));
  } catch (error) {
    if (isAbsentError(error)) return undefined;
    throw readError(path, error);
  }
}
