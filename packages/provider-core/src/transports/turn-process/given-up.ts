import { readFile } from 'node:fs/promises';
import type { GivenUp, TurnProcess } from '../../spec/turn-process.js';
import { isAbsentError, readError } from '../../state/state-error.js';
import { turnFiles } from './process-record.js';

/**
 * Why the last turn's process gave up, where it said so. Before it has opened its session, whatever it says last counts:
 * it is not started again and again for words that nobody knows.
 */
export async function readGivenUp(
  way: TurnProcess,
  filesDir: string,
  { hasOpened }: { readonly hasOpened: boolean },
): Promise<GivenUp | undefined> {
  const path = turnFiles(filesDir).errors;
  try {
    const errors = await readFile(path, 'utf8');
    return way.readGivenUp(errors) ?? (hasOpened ? undefined : readLastWords(errors));
  } catch (error) {
    if (isAbsentError(error)) return undefined;
    throw readError(path, error);
  }
}

function readLastWords(errors: string): GivenUp | undefined {
  const detail = errors.trim().slice(-500);
  return detail === '' ? undefined : { reason: 'other', detail };
}
