import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { StateUnusableError } from '../errors/turn-error.js';
import { appendJsonLine, readJsonLines } from './json-lines.js';

/**
 * Remembers that a file was removed for its age, so that its turn's id is never taken for a new one. Durable
 * when it resolves; the file may be removed then.
 */
export async function rememberExpired(path: string): Promise<void> {
  await appendJsonLine(bucketOf(path), basename(path), { sync: true });
}

/** Throws where the absent file was removed for its age: what it said is lost, so nothing may be sent. */
export async function refuseExpired(path: string): Promise<void> {
  const read = await readJsonLines(bucketOf(path));
  if (read === 'absent' || !read.lines.some(({ value }) => value === basename(path))) return;
  throw new StateUnusableError(
    path,
    'unreadable',
    'this turn is too old: its outcome was removed. Nothing was sent; use a new turnId.',
  );
}

/** One of 256 lists, so that looking for one name reads little however many there are. */
function bucketOf(path: string): string {
  const bucket = createHash('sha256').update(basename(path)).digest('hex').slice(0, 2);
  return join(dirname(path), 'expired', `${bucket}.jsonl`);
}
