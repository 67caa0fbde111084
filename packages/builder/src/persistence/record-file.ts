import { lstat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  createFileAtomic,
  findMovedAside,
  moveAside,
  readError,
  syncDir,
  writeError,
  writeFileAtomic,
} from '@holdfast/agent';
import { breathe } from './one-go.js';
import { openPlainFile } from './open-plain-file.js';
import { readSmallFile } from './small-file.js';
import type { JsonValue, StoreRead, StoreWriteOptions } from './store.js';
import { inTurn } from './write-turns.js';

/** The largest record or log entry, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Reads a record. What is no JSON or too large is set aside; the latter is never read. */
export async function readRecordFile(path: string): Promise<StoreRead> {
  const found = await readContent(path);
  if (found === undefined) return await readLeftover(path);
  const parsed = parseJson(found.content);
  if (parsed) return { state: 'present', value: parsed.value };
  const movedTo = await inTurn(path, () => moveDamaged(path, found.fileId));
  return movedTo === undefined ? await readRecordFile(path) : { state: 'damaged', movedTo };
}

/** Moves it aside unless it was replaced meanwhile by a whole one, or moved by another reader. */
async function moveDamaged(path: string, fileId: string): Promise<string | undefined> {
  return (await findFileId(path)) === fileId ? moveAside(path) : undefined;
}

/** What was set aside is unknown, not gone, until the record is written anew. */
async function readLeftover(path: string): Promise<StoreRead> {
  const movedTo = await findMovedAside(path);
  return movedTo === undefined ? { state: 'absent' } : { state: 'damaged', movedTo };
}

interface Content {
  /** `undefined` where it is too large to be ours. */
  readonly content: Buffer | undefined;
  readonly fileId: string;
}

async function readContent(path: string): Promise<Content | undefined> {
  await breathe();
  const small = readSmallFile(path);
  if (small === 'absent') return undefined;
  return small === 'large' ? await readLarge(path) : small;
}

async function readLarge(path: string): Promise<Content | undefined> {
  const file = await openPlainFile(path);
  if (!file) return undefined;
  try {
    const { size, dev, ino } = await file.stat();
    const content = size > MAX_BYTES ? undefined : await file.readFile();
    return { content, fileId: `${dev}:${ino}` };
  } catch (error) {
    throw readError(path, error);
  } finally {
    await file.close();
  }
}

async function findFileId(path: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await lstat(path);
    return `${dev}:${ino}`;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw readError(path, error);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(content: Buffer | undefined): { readonly value: unknown } | undefined {
  if (!content) return undefined;
  try {
    return { value: JSON.parse(utf8.decode(content)) };
  } catch {
    return undefined;
  }
}

interface RecordWriteOptions extends Pick<StoreWriteOptions, 'mode'> {
  /** Throws where the writer lost the right to write; asked at the last moment. */
  readonly checkFence: () => void;
}

/** Writes a record in one step; `false` in `create` mode where one stands. */
export async function writeRecordFile(
  path: string,
  value: JsonValue,
  { mode = 'replace', checkFence }: RecordWriteOptions,
): Promise<boolean> {
  const text = `${encodeJson(value)}\n`;
  if (mode === 'create') return createFileAtomic(path, text, { beforeInstall: checkFence });
  await writeFileAtomic(path, text, { beforeInstall: checkFence });
  return true;
}

/** Returns the value, or throws a TypeError where it would be too large to be read again. */
export function checkSize(value: JsonValue): JsonValue {
  encodeJson(value);
  return value;
}

function encodeJson(value: JsonValue): string {
  const text = JSON.stringify(value);
  if (typeof text !== 'string') throw new TypeError('Only what JSON can say is stored.');
  if (Buffer.byteLength(text) < MAX_BYTES) return text;
  throw new TypeError(`What is stored as one piece must be smaller than ${MAX_BYTES} bytes.`);
}

/** Takes a record away, durably. One that is not there changes nothing. */
export async function removeRecordFile(path: string): Promise<void> {
  try {
    await unlink(path);
    await syncDir(dirname(path));
  } catch (error) {
    if (!isAbsent(error)) throw writeError(path, error);
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
