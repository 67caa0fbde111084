import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock } from '../time/clock.js';
import { rememberExpired } from './expired-ids.js';
import { type LaunchRecord, readLaunchRecord } from './launch-record.js';
import { acquireLease } from './lease.js';
import { readStartRecord } from './start-record.js';
import { errorCode, isAbsentError, isStateUnusable, readError, writeError } from './state-error.js';
import { isPathPart, leaseDir, type StateLayout } from './state-layout.js';
import { openTurnJournal } from './turn-journal.js';

/** How long what is over is kept. */
export interface RetentionOptions {
  /** How long a record is kept after its last change; 30 when absent. */
  readonly retentionDays?: number | undefined;
  readonly clock?: Clock | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Removes the records, files and outcomes of sessions and starts that did not change for `retentionDays`, and
 * remembers their turn ids. Leaves alone what is active, unsettled, held by somebody or cannot be read.
 * Returns how many were removed.
 */
export async function removeExpiredRecords(
  layout: StateLayout,
  { retentionDays = 30, clock = systemClock }: RetentionOptions = {},
): Promise<number> {
  const isOld = (at: string) => clock.now() - Date.parse(at) > retentionDays * DAY_MS;
  let removed = 0;
  for (const provider of await listNames(layout.sessionsDir)) {
    for (const nativeId of await listNames(join(layout.sessionsDir, provider))) {
      if (await removeExpiredSession(layout, provider, nativeId, isOld)) removed += 1;
    }
  }
  for (const name of await listNames(layout.startsDir)) {
    if (!name.endsWith('.json')) continue;
    if (await removeExpiredStart(layout, name.slice(0, -'.json'.length), isOld)) removed += 1;
  }
  return removed;
}

type IsOld = (at: string) => boolean;

async function removeExpiredSession(
  layout: StateLayout,
  provider: string,
  nativeId: string,
  isOld: IsOld,
): Promise<boolean> {
  const record = await readOrSkip(() => readLaunchRecord(layout, provider, nativeId));
  if (!record || !(await isExpired(layout, record, isOld))) return false;
  const acquired = await acquireLease({ dir: leaseDir(record.cliHome, nativeId) });
  if (!acquired.lease) return false;
  await using _lease = acquired.lease;
  // Read again: it may have been continued before the lease was ours.
  const now = await readOrSkip(() => readLaunchRecord(layout, provider, nativeId));
  if (!now || !(await isExpired(layout, now, isOld))) return false;
  await removeSession(layout, provider, nativeId);
  return true;
}

async function isExpired(
  layout: StateLayout,
  { provider, nativeSessionId, status, updatedAt, cliHome }: LaunchRecord,
  isOld: IsOld,
): Promise<boolean> {
  if (status === 'active' || !isOld(updatedAt)) return false;
  // A lease cannot be taken without making the home anew, and a missing disk may come back.
  if (!(await exists(cliHome))) return false;
  const areSettled = () => areTurnsSettled(layout, provider, nativeSessionId);
  return status === 'closed' || (await readOrSkip(areSettled)) === true;
}

/** Whether every turn of the session has a final outcome; one that cannot be read has none. */
async function areTurnsSettled(
  layout: StateLayout,
  provider: string,
  nativeId: string,
): Promise<boolean> {
  const turnsDir = layout.turnsDir(provider, nativeId);
  for (const name of await listNames(turnsDir)) {
    if (!name.endsWith('.journal.jsonl')) continue;
    const { entries } = await openTurnJournal(join(turnsDir, name));
    if (!entries.some(({ step }) => step === 'ended')) return false;
  }
  return true;
}

async function removeSession(
  layout: StateLayout,
  provider: string,
  nativeId: string,
): Promise<void> {
  const turnsDir = layout.turnsDir(provider, nativeId);
  const turnFiles = (await listNames(turnsDir)).filter((name) => name.endsWith('.jsonl'));
  // Secrets first; then each outcome, after its id is remembered; the record last, which makes us come again.
  await remove(layout.filesDir(provider, nativeId));
  for (const name of turnFiles) {
    const path = join(turnsDir, name);
    if (name.endsWith('.journal.jsonl')) await rememberExpired(path);
    await remove(path);
  }
  const sessionDir = layout.sessionDir(provider, nativeId);
  // What a crash left of a write may hold the record's secrets.
  const leftovers = (await listNames(sessionDir)).filter((name) => name.endsWith('.tmp'));
  for (const name of leftovers) await remove(join(sessionDir, name));
  await remove(layout.launchRecord(provider, nativeId));
}

async function removeExpiredStart(
  layout: StateLayout,
  turnId: string,
  isOld: IsOld,
): Promise<boolean> {
  const start = await readOrSkip(() => readStartRecord(layout, turnId));
  if (!start || !isOld(start.createdAt)) return false;
  const { provider, nativeSessionId } = start;
  // A start lives as long as its session: the same id must find it.
  if (nativeSessionId !== undefined) {
    const read = async () => (await readLaunchRecord(layout, provider, nativeSessionId)) ?? 'none';
    if ((await readOrSkip(read)) !== 'none') return false;
  }
  const acquired = await acquireLease({ dir: layout.startLeaseDir(turnId) });
  if (!acquired.lease) return false;
  await using _lease = acquired.lease;
  await rememberExpired(layout.startFile(turnId));
  await remove(layout.startFile(turnId));
  await remove(layout.startLeaseDir(turnId));
  return true;
}

/** What cannot be read is not judged by its age; it stays. */
async function readOrSkip<Value>(read: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isStateUnusable(error)) return undefined;
    throw error;
  }
}

async function listNames(path: string): Promise<string[]> {
  try {
    // A name that no id can have is none of ours.
    return (await readdir(path)).filter(isPathPart);
  } catch (error) {
    if (isAbsentError(error) || errorCode(error) === 'ENOTDIR') return [];
    throw readError(path, error);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}

async function remove(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    throw writeError(path, error);
  }
}
