import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Sha256 } from '../coding-job.js';

/** The path of an executable file: the one that was configured, else the first on PATH. */
export function findExecutable(name: string, configured?: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  const candidates =
    configured === undefined ? folders.map((folder) => join(folder, name)) : [configured];
  return candidates.find(isExecutable);
}

/** A digest is taken once an installation, since a CLI is large. */
const known = new Map<string, Sha256>();

/** The digest of a file's bytes. */
export async function digestFile(path: string): Promise<Sha256> {
  const { ino, size, mtimeMs, ctimeMs } = statSync(path);
  const fingerprint = `${path}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;
  const found = known.get(fingerprint);
  if (found) return found;
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  const digest = `sha256:${hash.digest('hex')}` as const;
  known.set(fingerprint, digest);
  return digest;
}

function isExecutable(path: string): boolean {
  try {
    const found = statSync(path);
    return found.isFile() && (found.mode & 0o111) !== 0;
  } catch {
    return false;
  }
}
