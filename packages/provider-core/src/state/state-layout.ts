import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, lstat, readFile, realpath } from 'node:fs/promises';
import { homedir, tmpdir, userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { StateUnusableError } from '../errors/turn-error.js';
import { writeFileAtomic } from './atomic-write.js';
import { ensurePrivateDir } from './private-dir.js';
import { isAbsentError, readError, writeError } from './state-error.js';

/** Every path of one state directory. Nothing else in the code joins one. */
export interface StateLayout {
  readonly root: string;
  readonly format: string;
  readonly startsDir: string;
  readonly startFile: (turnId: string) => string;
  readonly startLeaseDir: (turnId: string) => string;
  readonly sessionsDir: string;
  readonly sessionDir: (provider: string, nativeId: string) => string;
  readonly launchRecord: (provider: string, nativeId: string) => string;
  readonly openTurn: (provider: string, nativeId: string) => string;
  readonly turnsDir: (provider: string, nativeId: string) => string;
  readonly turnJournal: (provider: string, nativeId: string, turnId: string) => string;
  readonly turnEvents: (provider: string, nativeId: string, turnId: string) => string;
  readonly filesDir: (provider: string, nativeId: string) => string;
  readonly serversDir: string;
  /** Path of our tmux server's socket, 100 bytes at most. */
  readonly tmuxSocket: string;
}

/** The paths below `root`. Pure: the folders are made by `prepareStateDir` and by who writes. */
export function stateLayout(root: string): StateLayout {
  const base = resolve(root);
  const startsDir = join(base, 'starts');
  const sessionsDir = join(base, 'sessions');
  const sessionDir = (provider: string, nativeId: string) =>
    join(sessionsDir, pathPart('provider', provider), pathPart('native session id', nativeId));
  const turnsDir = (provider: string, nativeId: string) =>
    join(sessionDir(provider, nativeId), 'turns');
  const turnFile = (provider: string, nativeId: string, turnId: string, suffix: string) =>
    join(turnsDir(provider, nativeId), `${pathPart('turnId', turnId)}.${suffix}`);
  return {
    root: base,
    format: join(base, 'FORMAT'),
    startsDir,
    startFile: (turnId) => join(startsDir, `${pathPart('turnId', turnId)}.json`),
    startLeaseDir: (turnId) => join(startsDir, `${pathPart('turnId', turnId)}.lease`),
    sessionsDir,
    sessionDir,
    launchRecord: (provider, nativeId) => join(sessionDir(provider, nativeId), 'launch.json'),
    openTurn: (provider, nativeId) => join(sessionDir(provider, nativeId), 'open-turn.json'),
    turnsDir,
    turnJournal: (provider, nativeId, turnId) =>
      turnFile(provider, nativeId, turnId, 'journal.jsonl'),
    turnEvents: (provider, nativeId, turnId) =>
      turnFile(provider, nativeId, turnId, 'events.jsonl'),
    filesDir: (provider, nativeId) => join(sessionDir(provider, nativeId), 'files'),
    serversDir: join(base, 'servers'),
    tmuxSocket: socketPath(base),
  };
}

/** Where provider-core keeps its state unless told otherwise. */
export function defaultStateDir(): string {
  const stateHome = process.env['XDG_STATE_HOME'];
  return join(stateHome || join(homedir(), '.local', 'state'), 'holdfast');
}

/** The folder whose generations say who may write the session: beside the provider's own store. */
export function leaseDir(cliHome: string, nativeId: string): string {
  return join(resolve(cliHome), '.holdfast', 'leases', pathPart('native session id', nativeId));
}

/** Tells whether an id may become a file name: no separator, no dots alone, 200 characters at most. */
export function isPathPart(id: string): boolean {
  return /^[A-Za-z0-9._-]{1,200}$/.test(id) && id !== '.' && id !== '..';
}

function pathPart(what: string, id: string): string {
  if (isPathPart(id)) return id;
  throw new TypeError(
    `The ${what} ${JSON.stringify(id.slice(0, 80))} cannot name a file; use 1 to 200 of A-Z a-z 0-9 . _ -`,
  );
}

/** What a Unix socket's path may be long on every system, with room to spare. */
const SOCKET_BYTES = 100;

function socketPath(root: string): string {
  const name = `${createHash('sha256').update(root).digest('hex').slice(0, 8)}.s`;
  const folder = `holdfast-${userInfo().uid}`;
  const candidates = [join(root, 'run', name), join(tmpdir(), folder, name)];
  const short = candidates.find((path) => Buffer.byteLength(path) <= SOCKET_BYTES);
  return short ?? join('/tmp', folder, name);
}

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
