import { readFile, writeFile } from 'node:fs/promises';

/** Copies a file so that only its owner can read the copy; a file that is not there is no error. */
export async function copyPrivately(from: string, to: string): Promise<void> {
  const content = await readFile(from).catch(() => undefined);
  if (content !== undefined) await writeFile(to, content, { mode: 0o600 });
}
