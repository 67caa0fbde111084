import { randomUUID } from 'node:crypto';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The fewest calls that replace a file durably: write, fsync, rename, fsync of the folder. */
export async function replaceFile(path: string, content: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}`;
  const file = await open(temporary, 'w', 0o600);
  await file.writeFile(content);
  await file.sync();
  await file.close();
  await rename(temporary, path);
  const folder = await open(dirname(path), 'r');
  await folder.sync();
  await folder.close();
}

/** The fewest calls that append a line durably. */
export async function appendLine(path: string, value: unknown): Promise<void> {
  const file = await open(path, 'a', 0o600);
  await file.write(`${JSON.stringify(value)}\n`);
  await file.datasync();
  await file.close();
}
