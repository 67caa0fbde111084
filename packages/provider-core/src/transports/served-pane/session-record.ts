import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordCursor } from '../../spec/record-event.js';
import type { RecordFolder, ServedPane } from '../../spec/served-pane.js';
import { readJsonLines } from '../../state/json-lines.js';
import { isAbsentError, isStateUnusable, readError } from '../../state/state-error.js';
import type { RecordReading, SessionContext } from '../session-transport.js';

/** Any way whose record stands below the CLI's home, found by its name. */
export type WithRecord = Pick<ServedPane, 'record'>;

/** Where the provider keeps the session's record; looked for by file name alone. */
export type RecordPlace =
  | { readonly state: 'found'; readonly path: string }
  | { readonly state: 'absent' }
  | { readonly state: 'unreadable'; readonly why: string };

/** Looks for the record below the CLI's home. A folder that cannot be listed is unreadable, never absent. */
export async function findRecord(
  { record }: WithRecord,
  { cliHome, nativeSessionId }: Pick<SessionContext, 'cliHome' | 'nativeSessionId'>,
): Promise<RecordPlace> {
  if (nativeSessionId === undefined) return { state: 'absent' };
  let foreignForm = false;
  try {
    for (const folder of record.folders(nativeSessionId)) {
      for await (const { name, path } of walk(cliHome, folder)) {
        if (record.isRecord(name, nativeSessionId)) return { state: 'found', path };
        foreignForm ||= record.isForeignForm(name, nativeSessionId);
      }
    }
  } catch (error) {
    if (isStateUnusable(error)) return { state: 'unreadable', why: error.message };
    throw error;
  }
  return foreignForm
    ? { state: 'unreadable', why: 'the record is kept in a form that is not read here' }
    : { state: 'absent' };
}

async function* walk(
  root: string,
  { path, depth }: RecordFolder,
): AsyncGenerator<{ readonly name: string; readonly path: string }> {
  const folder = join(root, path);
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isAbsentError(error)) return [];
    throw readError(folder, error);
  });
  // Newest first: the names are dates.
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? 1 : -1))) {
    const below = join(path, entry.name);
    if (entry.isFile()) yield { name: entry.name, path: join(root, below) };
    else if (entry.isDirectory() && depth > 0) yield* walk(root, { path: below, depth: depth - 1 });
  }
}

/** Reads what the record says from the cursor on, or all of it. Needs no server. */
export async function readSessionRecord(
  way: WithRecord,
  context: SessionContext,
  since: RecordCursor | undefined,
): Promise<RecordReading> {
  const place = await findRecord(way, context);
  if (place.state === 'unreadable') return { state: 'untrustworthy', why: place.why };
  if (place.state === 'absent') return gone(since);
  try {
    const lines = await readJsonLines(place.path, { fromByte: since?.length ?? 0 });
    if (lines === 'absent') return gone(since);
    if (since?.fileId !== undefined && since.fileId !== lines.fileId) {
      return { state: 'untrustworthy', why: 'the record is another file now' };
    }
    if (since && lines.size < since.length) {
      return { state: 'untrustworthy', why: 'the record is shorter than it was' };
    }
    const reader = way.record.createReader();
    return { state: 'readable', events: lines.lines.flatMap(({ value }) => reader.read(value)) };
  } catch (error) {
    if (isStateUnusable(error)) return { state: 'untrustworthy', why: error.message };
    throw error;
  }
}

function gone(since: RecordCursor | undefined): RecordReading {
  return since?.fileId === undefined
    ? { state: 'absent' }
    : { state: 'untrustworthy', why: 'the record is gone' };
}

const WINDOW_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** The end of the record's last whole line: only what comes after it is new. */
export async function takeRecordCursor(path: string): Promise<RecordCursor> {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const { dev, ino, size } = fstatSync(file);
    const buffer = Buffer.alloc(WINDOW_BYTES);
    let length = 0;
    for (let end = size; end > 0; end -= WINDOW_BYTES) {
      const start = Math.max(0, end - WINDOW_BYTES);
      const bytesRead = readSync(file, buffer, 0, end - start, start);
      const newline = buffer.subarray(0, bytesRead).lastIndexOf(NEWLINE);
      if (newline < 0) continue;
      length = start + newline + 1;
      break;
    }
    return { path, fileId: `${dev}:${ino}`, length };
  } catch (error) {
    if (isAbsentError(error)) return { path, length: 0 };
    throw readError(path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
