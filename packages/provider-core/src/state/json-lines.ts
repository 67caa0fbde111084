import { closeSync, fstatSync, openSync, read, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { syncDir } from './atomic-write.js';
import { syncContent } from './disk.js';
import { faultPoint } from './fault-point.js';
import { ensurePrivateDir } from './private-dir.js';
import { isAbsentError, readError, writeError } from './state-error.js';

const NEWLINE = 0x0a;
/** Most reads find a few new lines, and a large buffer for each would keep the collector busy. */
const FIRST_CHUNK_BYTES = 16 * 1024;
const CHUNK_BYTES = 256 * 1024;

/** One line of a JSON-lines file, with its place in bytes. */
export interface JsonLine {
  /** `undefined` where the line is no JSON. */
  readonly value: unknown;
  readonly offset: number;
  /** Without the line's end. */
  readonly length: number;
}

/**
 * Bytes to lines to values. Splits at 0x0A alone (U+2028 stands inside JSON), decodes whole lines
 * alone (a character may be cut between two chunks), and keeps half a line until its rest comes.
 */
export class JsonLineReader {
  #half: Buffer[] = [];
  #halfBytes = 0;
  #endOffset: number;

  constructor(fromByte = 0) {
    this.#endOffset = fromByte;
  }

  /** The byte after the last line's end. Only this place may be kept as a cursor. */
  get endOffset(): number {
    return this.#endOffset;
  }

  /** Whether bytes of an unfinished line were seen. */
  get tornTail(): boolean {
    return this.#halfBytes > 0;
  }

  /** Takes the next bytes, gives the lines they finish. Blank lines are left out. */
  push(chunk: Uint8Array): JsonLine[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const lines: JsonLine[] = [];
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      const line = this.#finish(bytes.subarray(start, end));
      if (line) lines.push(line);
      start = end + 1;
    }
    this.#keep(bytes.subarray(start));
    return lines;
  }

  #finish(rest: Buffer): JsonLine | undefined {
    const line = this.#half.length === 0 ? rest : Buffer.concat([...this.#half, rest]);
    const offset = this.#endOffset;
    this.#half = [];
    this.#halfBytes = 0;
    this.#endOffset += line.length + 1;
    const text = line.toString('utf8');
    if (text.trim() === '') return undefined;
    return { value: parseJson(text), offset, length: line.length };
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    // A copy: whoever reads into the same buffer again must not change what waits here.
    this.#half.push(Buffer.from(bytes));
    this.#halfBytes += bytes.length;
  }
}

/** A machine that lost power leaves NUL bytes where a line was not yet on disk; the record after them is whole. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\0+/, ''));
  } catch {
    return undefined;
  }
}

/** Everything a JSON-lines file held at one moment, from a byte on. */
export interface JsonLines {
  readonly lines: readonly JsonLine[];
  /** The byte after the last line's end: where to read on. */
  readonly endOffset: number;
  /** Whether an unfinished line stands at the end. */
  readonly tornTail: boolean;
  /** Device and inode, `dev:ino`: another value is another file. */
  readonly fileId: string;
  /** Length of the file in bytes; less than `fromByte` when it was cut. */
  readonly size: number;
}

/** Reads the file's finished lines. One that cannot be read is a `StateUnusableError`, never `absent`. */
export async function readJsonLines(
  path: string,
  { fromByte = 0 }: { readonly fromByte?: number } = {},
): Promise<JsonLines | 'absent'> {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const reader = new JsonLineReader(fromByte);
    const lines: JsonLine[] = [];
    for await (const chunk of readChunks(file, fromByte)) {
      // Not push(...lines): a chunk of tiny lines is more than a call may take arguments.
      for (const line of reader.push(chunk)) lines.push(line);
    }
    const { dev, ino, size } = fstatSync(file);
    const { endOffset, tornTail } = reader;
    return { lines, endOffset, tornTail, fileId: `${dev}:${ino}`, size };
  } catch (error) {
    if (isAbsentError(error)) return 'absent';
    throw readError(path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const readAside = promisify(read);

/**
 * The bytes of an open file from a place to its present end; each chunk is good until the next one is asked for. A few new
 * lines are read at once, a long file in another thread.
 */
export async function* readChunks(file: number, fromByte: number): AsyncGenerator<Buffer> {
  let buffer = Buffer.allocUnsafe(FIRST_CHUNK_BYTES);
  let isLong = false;
  for (let position = fromByte; ; ) {
    const bytesRead = isLong
      ? (await readAside(file, buffer, 0, buffer.length, position)).bytesRead
      : readSync(file, buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
    if (bytesRead < FIRST_CHUNK_BYTES || isLong) continue;
    isLong = true;
    buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  }
}

/**
 * Appends one line in a single write; with `sync` it is durable when this resolves. After a torn
 * tail it begins a new line, so that only the torn one is lost.
 */
export async function appendJsonLine(
  path: string,
  value: unknown,
  { sync }: { readonly sync: boolean },
): Promise<void> {
  await ensurePrivateDir(dirname(path));
  let file: number | undefined;
  try {
    file = openSync(path, 'a+', 0o600);
    const { size } = fstatSync(file);
    writeWhole(file, `${endsTorn(file, size) ? '\n' : ''}${JSON.stringify(value)}\n`);
    faultPoint('append:written');
    if (!sync) return;
    // Both at once: the line is durable when the file has it and the folder has the file, whichever came first.
    const folder = size === 0 ? syncDir(dirname(path)) : undefined;
    folder?.catch(() => {});
    await syncContent(file);
    await folder;
    faultPoint('append:synced');
  } catch (error) {
    throw writeError(path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Whether half a line stands at the end of an open file. */
export function endsTorn(file: number, size: number): boolean {
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] !== NEWLINE;
}

/** One write, unless a disk that fills up takes a part: the next write then says so by its own code. */
function writeWhole(file: number, text: string): void {
  let rest = Buffer.from(text, 'utf8');
  while (rest.length > 0) rest = rest.subarray(writeSync(file, rest));
}
