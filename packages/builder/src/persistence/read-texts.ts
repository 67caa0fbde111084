import { isUtf8 } from 'node:buffer';
import { isTurnError } from '@holdfast/agent';
import { openPlaceOf } from './file-place.js';
import { breathe } from './one-go.js';
import { readSmallFile } from './small-file.js';
import type { StoreKey } from './store.js';

/** The text of many small records; `undefined` where it takes more than a look to say what stands there. */
export async function readTexts(
  root: string,
  keys: readonly StoreKey[],
): Promise<readonly (string | undefined)[]> {
  const texts: (string | undefined)[] = [];
  for (const key of keys) {
    await breathe();
    texts.push(readText(root, key));
  }
  return texts;
}

function readText(root: string, key: StoreKey): string | undefined {
  try {
    const file = readSmallFile(openPlaceOf(root, key));
    if (file === 'absent' || file === 'large' || !isUtf8(file.content)) return undefined;
    return file.content.toString('utf8');
  } catch (error) {
    if (isTurnError(error)) return undefined;
    throw error;
  }
}
