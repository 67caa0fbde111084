import { closeSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { StateUnusableError } from '../errors/turn-error.js';
import { findMovedAside, moveAside } from './atomic-write.js';
import { refuseExpired } from './expired-ids.js';
import type { JournalEntry } from './journal-entry.js';
import { appendJsonLine, endsTorn, type JsonLine, readJsonLines } from './json-lines.js';
import { isAbsentError, writeError } from './state-error.js';
import { decodeJournalEntry, encodeJournalEntry, journalSteps } from './turn-journal.wire.js';

export type { JournalEntry } from './journal-entry.js';

/** The journal of one turn, which only the holder of the session's lease writes. */
export interface TurnJournal {
  /** Grows with each append. */
  readonly entries: readonly JournalEntry[];
  /** Adds a step; with `sync` it is durable when this resolves. Calls are kept in order. */
  readonly append: (entry: JournalEntry, options: { readonly sync: boolean }) => Promise<void>;
}

/**
 * Opens a turn's journal; a turn without one has no entries. A torn last line counts as not
 * written. A journal that is damaged before its end is moved aside and stays a
 * {@link StateUnusableError}: what it said is unknown, so nothing may be sent.
 */
export async function openTurnJournal(path: string): Promise<TurnJournal> {
  const entries = await readJournal(path);
  let writes: Promise<void> = Promise.resolve();
  // Half a line is left by a dead owner, or by a write of ours that failed.
  let endsWhole = false;
  return {
    entries,
    append: (entry, options) => {
      const written = writes.then(async () => {
        if (!endsWhole) cutTornTail(path);
        endsWhole = false;
        await appendJsonLine(path, encodeJournalEntry(entry), options);
        endsWhole = true;
        entries.push(entry);
      });
      writes = written.catch(() => {});
      return written;
    },
  };
}

async function readJournal(path: string): Promise<JournalEntry[]> {
  const read = await readJsonLines(path);
  if (read !== 'absent') return decodeLines(path, read.lines);
  const movedTo = await findMovedAside(path);
  if (movedTo !== undefined) throw damaged(path, movedTo);
  await refuseExpired(path);
  return [];
}

async function decodeLines(path: string, lines: readonly JsonLine[]): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for (const { value } of lines) {
    const entry = decodeJournalEntry(value);
    if (entry === undefined && isNewerStep(value)) throw newerFormat(path);
    if (entry === undefined) throw damaged(path, await moveAside(path));
    entries.push(entry);
  }
  return entries;
}

function isNewerStep(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('step' in value)) return false;
  return typeof value.step === 'string' && !journalSteps.has(value.step);
}

function newerFormat(path: string): StateUnusableError {
  return new StateUnusableError(
    path,
    'newer_format',
    'it holds a step of a newer version. Nothing was touched; update holdfast.',
  );
}

function damaged(path: string, movedTo: string): StateUnusableError {
  return new StateUnusableError(
    path,
    'damaged',
    `what was delivered of this turn is not known. The journal was moved to ${movedTo}; repair and put it back, or inspect the session and use a new turnId.`,
  );
}

/** Half a line of a crashed owner is cut, else it would come to stand in the middle and look like damage. */
function cutTornTail(path: string): void {
  let file: number | undefined;
  try {
    file = openSync(path, 'r+');
    const { size } = fstatSync(file);
    if (endsTorn(file, size)) ftruncateSync(file, endOfLastLine(file, size));
  } catch (error) {
    if (!isAbsentError(error)) throw writeError(path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function endOfLastLine(file: number, size: number): number {
  const whole = Buffer.alloc(size);
  readSync(file, whole, 0, size, 0);
  return whole.lastIndexOf(0x0a) + 1;
}
