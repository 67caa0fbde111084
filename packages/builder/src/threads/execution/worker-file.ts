import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Sha256 } from '../coding-job.js';

/** Where the build puts the worker: beside the module that starts it. */
export function findWorkerFile(): string {
  return fileURLToPath(new URL('./coding-worker.js', import.meta.url));
}

/** The digest of the worker's file and of every module beside it: some of them are parts of it. */
export async function digestWorkerFile(file: string): Promise<Sha256> {
  const folder = dirname(file);
  const names = (await readdir(folder)).filter((name) => /\.[cm]?js$/.test(name));
  const hash = createHash('sha256');
  for (const name of [...new Set([...names, basename(file)])].sort()) {
    const content = await readFile(join(folder, name));
    hash.update(`${name}\0${content.length}\0`).update(content);
  }
  return `sha256:${hash.digest('hex')}`;
}
