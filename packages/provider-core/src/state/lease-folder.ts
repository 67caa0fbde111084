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
import { readdir, unlink, writeFile } from 'node:fs/promises';
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
  /** ISO 8601, for people. */
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
  const temporary = join(dir, `.${randomBytes(8).toString('hex')}.tmp`);
  try {
    await writeOwner(temporary, owner);
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
  if (number % PRUNE_EVERY === 0) await pruneGenerations(dir, number);
  return true;
}

async function writeOwner(path: string, owner: LeaseOwnerRecord): Promise<void> {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(file, `${JSON.stringify(z.encode(leaseOwnerCodec, owner))}\n`);
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

async function pruneGenerations(dir: string, newest: number): Promise<void> {
  const names = await readdir(dir).catch(() => []);
  const old = names.filter((name) => isLeaving(name, newest - KEPT_GENERATIONS));
  await Promise.all(old.map((name) => unlink(join(dir, name)).catch(() => {})));
}

/** A generation, mark or sign of life that is old enough, or a temporary file, whose owner would just try again. */
function isLeaving(name: string, upTo: number): boolean {
  if (name.startsWith('.') && name.endsWith('.tmp')) return true;
  const [number = ''] = name.split('.');
  return /^\d+$/.test(number) && Number(number) <= upTo;
}
