import { readdirSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import {
  appendJsonLine,
  type Clock,
  faultPoint,
  type Lease,
  type Logger,
  moveAside,
  readError,
  SessionBusyError,
} from '@holdfast/agent';
import { ensureDurableFolder } from './durable-folder.js';
import { observeFileLease, takeFileLease } from './file-lease.js';
import { findPlace, openPlaceOf, placeOf } from './file-place.js';
import { describeKey } from './keys.js';
import { readLogFile } from './log-file.js';
import { breathe } from './one-go.js';
import { readTexts } from './read-texts.js';
import { checkSize, readRecordFile, removeRecordFile, writeRecordFile } from './record-file.js';
import type { Store, StoreKey, StoreLeaseState, StoreRead } from './store.js';
import { checkKey, checkPrefix, isHiddenName } from './store-key.js';
import { inTurn } from './write-turns.js';

/** Where a file store stands. */
export interface FileStoreOptions {
  /** Made when it is not there, readable by its owner alone. */
  readonly dataDir: string;
  readonly logger?: Logger | undefined;
  /** For the waits and the `since` of leases. */
  readonly clock?: Clock | undefined;
}

/** A store in plain files, which any number of processes of one machine may share. */
export function createFileStore(options: FileStoreOptions): Store {
  const files = openFiles(options);
  const { signal } = files.closing;
  return {
    read: (key) => readRecord(files, key),
    write: (key, value, { mode, lease } = {}) =>
      change(files, { key, what: 'write', lease }, async (path, checkFence) => {
        await ensureDurableFolder(dirname(path));
        return await writeRecordFile(path, value, { mode, checkFence });
      }),
    remove: (key, { lease } = {}) =>
      change(files, { key, what: 'remove', lease }, (path) => removeRecordFile(path)),
    setAside: (key) => change(files, { key, what: 'set-aside' }, (path) => moveAside(path)),
    list: (prefix) => listNames(files, prefix),
    readTexts: async (keys) => {
      keys.forEach(checkKey);
      checkOpen(files);
      return await readTexts(files.root, keys);
    },
    append: (key, entry, { lease, sync = true } = {}) =>
      change(files, { key, what: 'append', lease }, async (path) => {
        await ensureDurableFolder(dirname(path));
        await appendJsonLine(path, checkSize(entry), { sync });
      }),
    readLog: (key, { from, follow } = {}) =>
      readLogFile(() => findOurs(files, key), {
        from,
        follow: follow && AbortSignal.any([follow, signal]),
      }),
    acquire: async (key, { signal: stop } = {}) =>
      takeFileLease(findOurs(files, key), { signal: stop, clock: files.clock }),
    observe: async (key) => observeLease(files, key),
    [Symbol.asyncDispose]: () => closeFiles(files),
  };
}

interface Files {
  readonly root: string;
  readonly logger: Logger | undefined;
  readonly clock: Clock | undefined;
  readonly closing: AbortController;
  /** Writes that were asked for and have not ended. */
  readonly pending: Set<Promise<unknown>>;
}

function openFiles({ dataDir, logger, clock }: FileStoreOptions): Files {
  if (typeof dataDir !== 'string' || dataDir.trim() === '') {
    throw new TypeError('dataDir must be a path.');
  }
  return {
    root: resolve(dataDir),
    logger,
    clock,
    closing: new AbortController(),
    pending: new Set(),
  };
}

/** What was begun is ended; nothing more is taken. */
async function closeFiles({ closing, pending }: Files): Promise<void> {
  closing.abort();
  await Promise.allSettled(pending);
}

function findOurs(files: Files, key: StoreKey): string {
  checkUsable(files, key);
  return placeOf(files.root, key);
}

function checkUsable(files: Files, key: StoreKey): void {
  checkKey(key);
  checkOpen(files);
}

function checkOpen({ closing }: Files): void {
  if (closing.signal.aborted) throw new TypeError('This store was closed; make another one.');
}

async function readRecord(files: Files, key: StoreKey): Promise<StoreRead> {
  checkUsable(files, key);
  const found = await readRecordFile(openPlaceOf(files.root, key));
  if (found.state === 'damaged') {
    files.logger?.warn({ key: key.join('/'), moved_to: found.movedTo }, 'record found damaged');
  }
  return found;
}

async function observeLease(files: Files, key: StoreKey): Promise<StoreLeaseState> {
  checkUsable(files, key);
  const { path, isThere } = findPlace(files.root, key);
  // Most were never taken, or their work is long over.
  return isThere ? await observeFileLease(path) : { state: 'free' };
}

async function listNames(files: Files, prefix: StoreKey): Promise<readonly string[]> {
  checkPrefix(prefix);
  checkOpen(files);
  await breathe();
  const { path, isThere } = findPlace(files.root, prefix);
  if (!isThere) return [];
  try {
    const names = isSmallFolder(path) ? readdirSync(path) : await readdir(path);
    return names.filter((name) => !isHiddenName(name)).sort();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw readError(path, error);
  }
}

/** What a folder of a thousand names or so takes; such a one is read at once, where another thread would be waited for. */
const SMALL_FOLDER_BYTES = 64 * 1024;

function isSmallFolder(path: string): boolean {
  return statSync(path).size <= SMALL_FOLDER_BYTES;
}

interface Change {
  readonly key: StoreKey;
  readonly what: 'write' | 'remove' | 'set-aside' | 'append';
  readonly lease?: Lease | undefined;
}

/** Runs one change in the turn of its key, fenced, between two crash points that name it. */
async function change<Value>(
  files: Files,
  { key, what, lease }: Change,
  act: (path: string, checkFence: () => void) => Promise<Value>,
): Promise<Value> {
  const checkFence = () => checkCurrent(lease);
  const place = findOurs(files, key);
  const done = inTurn(place, async () => {
    checkFence();
    faultPoint(`store:before-${what}:${describeKey(key)}`);
    // Looked at again: it may have waited for others.
    const value = await act(placeOf(files.root, key), checkFence);
    faultPoint(`store:after-${what}:${describeKey(key)}`);
    return value;
  });
  files.pending.add(done);
  try {
    return await done;
  } finally {
    files.pending.delete(done);
  }
}

/** An owner that froze and lost its lease must write nothing. */
function checkCurrent(lease: Lease | undefined): void {
  if (lease && !lease.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
}
