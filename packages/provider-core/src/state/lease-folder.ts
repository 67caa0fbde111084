import { randomBytes } from 'node:crypto';
import {
  closeSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { syncContent } from './disk.js';
import { faultPoint } from './fault-point.js';
import { leaseOwnerCodec } from './lease.wire.js';
import { ensurePrivateDir } from './private-dir.js';
import { errorCode, isAbsentError, readError, writeError } from './state-error.js';

/** Who took a lease. */
export interface LeaseOwnerRecord {
  readonly pid: number;
  readonly hostId: string;
  readonly bootId: string;
  readonly pidNamespace: string;
  readonly startTime: string;
  /** ISO 8601, for people: since when this process has had it, turn after turn. */
  readonly since: string;
}

/** The newest generation of a lease: its number is the fencing token. */
export interface Generation {
  readonly number: number;
  readonly isReleased: boolean;
}

/** A listing is not atomic, so this many old generations stay for those who read an older one. */
const KEPT_GENERATIONS = 64;
const PRUNE_EVERY = 16;

/** The newest generation, 0 when there was never one. */
export async function readGeneration(dir: string): Promise<Generation> {
  try {
    return readGenerationNow(dir);
  } catch (error) {
    if (isAbsentError(error)) return { number: 0, isReleased: true };
    throw readError(dir, error);
  }
}

/** The same at once, for the fence that stands before every write. */
export function readGenerationNow(dir: string): Generation {
  return newestGeneration(readdirSync(dir));
}

function newestGeneration(names: readonly string[]): Generation {
  const number = names.reduce((max, name) => Math.max(max, generationNumber(name)), 0);
  return { number, isReleased: number === 0 || names.includes(`${number}.released`) };
}

function generationNumber(name: string): number {
  return /^\d+$/.test(name) ? Number(name) : 0;
}

/** Who took a generation: `lost` when its file is no record, as a power cut may leave it, `pruned` when it is gone. */
export async function readGenerationOwner(
  dir: string,
  number: number,
): Promise<LeaseOwnerRecord | 'lost' | 'pruned'> {
  try {
    const text = readFileSync(join(dir, String(number)), 'utf8');
    return z.decode(leaseOwnerCodec, JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.core.$ZodError) return 'lost';
    if (isAbsentError(error)) return 'pruned';
    throw readError(join(dir, String(number)), error);
  }
}

/** Takes a generation by linking a filled file to its number; false when somebody was faster. */
export async function takeGeneration(
  dir: string,
  number: number,
  owner: LeaseOwnerRecord,
): Promise<boolean> {
  await ensurePrivateDir(dir);
  const again = takeAgain(dir, number, owner);
  const isTaken = again ?? (await fillGeneration(dir, number, owner));
  if (isTaken && number % PRUNE_EVERY === 0) pruneGenerations(dir, number);
  return isTaken;
}

interface FilledGeneration {
  readonly number: number;
  readonly owner: LeaseOwnerRecord;
  readonly text: string;
}

/** By folder, the last generation that this process took. */
const ownGenerations = new Map<string, FilledGeneration>();
const MAX_REMEMBERED = 500;

function rememberOwn(dir: string, own: FilledGeneration): void {
  ownGenerations.delete(dir);
  ownGenerations.set(dir, own);
  const [oldest] = ownGenerations.keys();
  if (ownGenerations.size > MAX_REMEMBERED && oldest !== undefined) ownGenerations.delete(oldest);
}

/**
 * Takes the generation after one of our own by another link to the same file: what is in it is on the disk already, which
 * need not be waited for again. Nothing is said where that cannot be done.
 */
function takeAgain(dir: string, number: number, owner: LeaseOwnerRecord): boolean | undefined {
  const own = ownGenerations.get(dir);
  if (own?.number !== number - 1 || !isSameOwner(own.owner, owner)) return undefined;
  const path = join(dir, String(own.number));
  try {
    // Somebody may have removed the folder and begun it anew.
    if (readFileSync(path, 'utf8') !== own.text) return undefined;
    linkSync(path, join(dir, String(number)));
  } catch (error) {
    return errorCode(error) === 'EEXIST' ? false : undefined;
  }
  faultPoint('lease:linked');
  rememberOwn(dir, { ...own, number });
  return true;
}

function isSameOwner(one: LeaseOwnerRecord, other: LeaseOwnerRecord): boolean {
  const since = '';
  return JSON.stringify({ ...one, since }) === JSON.stringify({ ...other, since });
}

async function fillGeneration(
  dir: string,
  number: number,
  owner: LeaseOwnerRecord,
): Promise<boolean> {
  const text = `${JSON.stringify(z.encode(leaseOwnerCodec, owner))}\n`;
  const temporary = join(dir, `.${randomBytes(8).toString('hex')}.tmp`);
  try {
    await writeOwner(temporary, text);
    faultPoint('lease:filled');
    linkSync(temporary, join(dir, String(number)));
    faultPoint('lease:linked');
  } catch (error) {
    // Absent: somebody pruned what looked like a dead process's leavings.
    if (['EEXIST', 'ENOENT'].includes(errorCode(error) ?? '')) return false;
    throw writeError(dir, error);
  } finally {
    removeIfThere(temporary);
  }
  rememberOwn(dir, { number, owner, text });
  return true;
}

async function writeOwner(path: string, text: string): Promise<void> {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(file, text);
    // Else a power cut leaves an empty file, whose owner nobody could judge.
    await syncContent(file);
  } finally {
    closeSync(file);
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Somebody has cleared it away.
  }
}

/** Marks a generation as given back. */
export async function releaseGeneration(dir: string, number: number): Promise<void> {
  try {
    writeFileSync(join(dir, `${number}.released`), '', { mode: 0o600 });
    faultPoint('lease:released');
  } catch (error) {
    if (!isAbsentError(error)) throw writeError(dir, error);
  }
}

/** Writes the owner's next sign of life. */
export async function writeHeartbeat(dir: string, number: number, beat: number): Promise<void> {
  await writeFile(join(dir, `${number}.beat`), String(beat), { mode: 0o600 });
}

/** The owner's last sign of life: only whether it changes says anything. */
export async function readHeartbeat(dir: string, number: number): Promise<string> {
  try {
    return readFileSync(join(dir, `${number}.beat`), 'utf8');
  } catch {
    return '';
  }
}

function pruneGenerations(dir: string, newest: number): void {
  const old = listNames(dir).filter((name) => isLeaving(name, newest - KEPT_GENERATIONS));
  for (const name of old) removeIfThere(join(dir, name));
}

function listNames(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

/** A generation, mark or sign of life that is old enough, or a temporary file, whose owner would just try again. */
function isLeaving(name: string, upTo: number): boolean {
  if (name.startsWith('.') && name.endsWith('.tmp')) return true;
  const [number = ''] = name.split('.');
  return /^\d+$/.test(number) && Number(number) <= upTo;
}
