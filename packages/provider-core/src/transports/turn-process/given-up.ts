import { readFile } from 'node:fs/promises';
import type { GivenUp, TurnProcess } from '../../spec/turn-process.js';
import { isAbsentError, readError } from '../../state/state-error.js';
import { turnFiles } from './process-record.js';

/**
 * Why the last turn's process gave up, where it said so. Before it has opened its session, whatever it says counts,
 * notices aside: it is not started again and again for words that nobody knows.
 */
export async function readGivenUp(
  way: TurnProcess,
  filesDir: string,
  { hasOpened }: { readonly hasOpened: boolean },
): Promise<GivenUp | undefined> {
  const path = turnFiles(filesDir).errors;
  try {
    const errors = await readFile(path, 'utf8');
    return way.readGivenUp(errors) ?? (hasOpened ? undefined : readLastWords(way, errors));
  } catch (error) {
    if (isAbsentError(error)) return undefined;
    throw readError(path, error);
  }
}

/** One that was killed has no last words, whatever it had said before. */
function readLastWords(way: TurnProcess, errors: string): GivenUp | undefined {
  const words = errors.split('\n').filter((line) => !way.isNotice(line));
  const detail = words.join('\n').trim().slice(-500);
  return detail === '' ? undefined : { reason: 'other', detail };
}
