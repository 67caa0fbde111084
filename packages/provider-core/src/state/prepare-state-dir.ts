import { constants } from 'node:fs';
import { access, lstat, readFile, realpath } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { StateUnusableError } from '../errors/turn-error.js';
import { writeFileAtomic } from './atomic-write.js';
import { ensurePrivateDir } from './private-dir.js';
import { isAbsentError, readError, writeError } from './state-error.js';
import { type StateLayout, stateLayout } from './state-layout.js';

/** The newest format this version reads and the one it writes. */
const FORMAT_MAJOR = 1;

const prepared = new Map<string, Promise<StateLayout>>();

/**
 * Makes the state directory usable and returns its layout, with links in `root` resolved so that
 * two spellings share one socket. A newer format, a read-only or a full disk is a
 * {@link StateUnusableError}; of a newer format nothing is touched. Done once a process.
 */
export function prepareStateDir(root: string): Promise<StateLayout> {
  const key = resolve(root);
  const running = prepared.get(key) ?? prepare(key);
  prepared.set(key, running);
  running.catch(() => prepared.delete(key));
  return running;
}

async function prepare(given: string): Promise<StateLayout> {
  const known = await readFormat(stateLayout(given).format);
  await ensurePrivateDir(given);
  const layout = stateLayout(await realpath(given));
  await checkWritable(layout.root);
  await ensurePrivateDir(layout.startsDir);
  await ensurePrivateDir(layout.sessionsDir);
  await ensurePrivateDir(layout.serversDir);
  await ensureOwnDir(dirname(layout.tmuxSocket));
  // Last, so that a format file stands only in a directory that was made whole.
  if (known === undefined) await writeFileAtomic(layout.format, `${FORMAT_MAJOR}\n`);
  return layout;
}

async function readFormat(path: string): Promise<number | undefined> {
  const text = await readFormatText(path);
  if (text === undefined) return undefined;
  const major = Number(/^(\d+)(\.\d+)*\s*$/.exec(text)?.[1] ?? Number.NaN);
  if (Number.isNaN(major)) {
    throw new StateUnusableError(
      path,
      'damaged',
      'it holds no format number. Nothing was touched; put 1 in it if this is a state directory of holdfast.',
    );
  }
  if (major > FORMAT_MAJOR) {
    throw new StateUnusableError(
      path,
      'newer_format',
      `format ${major} was written by a newer version, this one reads ${FORMAT_MAJOR}. Nothing was touched; update holdfast or choose another stateDir.`,
    );
  }
  return major;
}

async function readFormatText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isAbsentError(error)) return undefined;
    throw readError(path, error);
  }
}

async function checkWritable(path: string): Promise<void> {
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw writeError(path, error);
  }
}

/** The socket may stand in a folder all users share; one made by somebody else is not used. */
async function ensureOwnDir(path: string): Promise<void> {
  await ensurePrivateDir(path);
  const found = await lstat(path);
  const own = found.isDirectory() && (found.uid === process.getuid?.() || !process.getuid);
  if (own && (found.mode & 0o077) === 0) return;
  throw new StateUnusableError(
    path,
    'unreadable',
    'it is not a private folder (0700) of this user. Nothing was started; remove it or set another stateDir.',
  );
}
