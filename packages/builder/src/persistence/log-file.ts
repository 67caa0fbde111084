import { followJsonLines, JsonLineReader, readError } from '@holdfast/agent';
import { openPlainFile } from './open-plain-file.js';
import type { StoreLogOptions } from './store.js';

/** The whole entries of a log from one on, then, with `follow`, each further one until it aborts. */
export async function* readLogFile(
  findPath: () => string,
  { from = 0, follow }: StoreLogOptions,
): AsyncGenerator<unknown, void, undefined> {
  const path = findPath();
  let toSkip = from;
  for await (const entry of follow ? followEntries(path, follow) : readEntries(path)) {
    // Another log now stands at the key: all of it is new.
    if (entry === 'replaced') toSkip = 0;
    else if (toSkip > 0) toSkip -= 1;
    else yield entry.value;
  }
}

type Entry = { readonly value: unknown } | 'replaced';

/** Piece by piece, since a log may be larger than memory. */
async function* readEntries(path: string): AsyncGenerator<Entry> {
  const file = await openPlainFile(path);
  if (!file) return;
  const reader = new JsonLineReader();
  try {
    for await (const chunk of file.createReadStream({ autoClose: false })) {
      // A line that is no JSON is half an entry, after which a later writer began a new line.
      for (const { value } of reader.push(chunk)) if (value !== undefined) yield { value };
    }
  } catch (error) {
    throw readError(path, error);
  } finally {
    await file.close();
  }
}

async function* followEntries(path: string, signal: AbortSignal): AsyncGenerator<Entry> {
  // One that cannot be opened is told at once; the follower itself would follow a link.
  await (await openPlainFile(path))?.close();
  for await (const line of followJsonLines(path, { signal })) {
    if (line.replaced) yield 'replaced';
    else if (line.value !== undefined) yield { value: line.value };
  }
}
