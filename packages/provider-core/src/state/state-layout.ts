import { createHash } from 'node:crypto';
import { homedir, tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';

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
