import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { StateUnusableError } from '../../errors/turn-error.js';
import type { RecordCursor } from '../../spec/record-event.js';
import type { TypedPane } from '../../spec/typed-pane.js';
import { readJsonLines } from '../../state/json-lines.js';
import { isAbsentError, readError } from '../../state/state-error.js';
import type { RecordReading, SessionContext } from '../session-transport.js';
import { type CliFiles, findRecords } from './session-files.js';

/** Where the record is, and how it is read. */
type RecordedWay = CliFiles & Pick<TypedPane, 'createRecordReader'>;

/** How far back from the end the last rows are looked for. */
const TAIL_BYTES = 64 * 1024;

/** Reads the session's record from `since` on. What cannot be trusted is told, never taken for absent. */
export async function readSessionRecord(
  way: RecordedWay,
  context: SessionContext,
  since: RecordCursor | undefined,
): Promise<RecordReading> {
  try {
    const paths = since?.path === undefined ? await findRecords(way, context) : [since.path];
    const [path, ...others] = paths;
    if (path === undefined) return { state: 'absent' };
    if (others.length > 0) return untrustworthy('the record stands in more than one folder');
    return await readFrom(way, path, since);
  } catch (error) {
    if (error instanceof StateUnusableError) return untrustworthy(error.message);
    throw error;
  }
}

async function readFrom(
  way: RecordedWay,
  path: string,
  since: RecordCursor | undefined,
): Promise<RecordReading> {
  const fromByte = since?.path === undefined ? 0 : since.length;
  const found = await readJsonLines(path, { fromByte });
  if (found === 'absent') {
    return since?.path === undefined ? { state: 'absent' } : untrustworthy('the record is gone');
  }
  const isOther = since?.fileId !== undefined && since.fileId !== found.fileId;
  if (isOther) return untrustworthy('another file stands in place of the record');
  if (found.size < fromByte) return untrustworthy('the record is shorter than it was');
  const reader = way.createRecordReader();
  return { state: 'readable', events: found.lines.flatMap(({ value }) => reader.push(value)) };
}

function untrustworthy(why: string): RecordReading {
  return { state: 'untrustworthy', why };
}

/** The end of the session's record, at the end of a line. */
export async function takeRecordCursor(
  way: CliFiles,
  context: SessionContext,
): Promise<RecordCursor> {
  const [path] = await findRecords(way, context);
  if (path === undefined) return { length: 0 };
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const { dev, ino, size } = fstatSync(file);
    return { path, fileId: `${dev}:${ino}`, ...readTail(file, size) };
  } catch (error) {
    if (isAbsentError(error)) return { length: 0 };
    throw readError(path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const NEWLINE = 0x0a;

/** Where the last whole line ends, and the id that the last row with one has; only what is needed for that is read as JSON. */
function readTail(file: number, size: number): Pick<RecordCursor, 'length' | 'lastRecordId'> {
  const start = Math.max(0, size - TAIL_BYTES);
  const tail = Buffer.allocUnsafe(size - start);
  const bytes = tail.subarray(0, readSync(file, tail, 0, tail.length, start));
  const lineEnd = bytes.lastIndexOf(NEWLINE);
  let end = lineEnd;
  while (end > 0) {
    const begin = bytes.lastIndexOf(NEWLINE, end - 1) + 1;
    const lastRecordId = readId(bytes.toString('utf8', begin, end));
    if (lastRecordId !== undefined) return { length: start + lineEnd + 1, lastRecordId };
    end = begin - 1;
  }
  return { length: start + lineEnd + 1 };
}

function readId(line: string): string | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const hasId = typeof value === 'object' && value !== null && 'uuid' in value;
    return hasId && typeof value.uuid === 'string' ? value.uuid : undefined;
  } catch {
    return undefined;
  }
}
