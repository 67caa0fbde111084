import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { faultPoint, syncDir, writeError } from '@holdfast/agent';

/** Makes a folder and its missing parents for their owner alone, so that a power cut leaves each of them there. */
export async function ensureDurableFolder(path: string): Promise<void> {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) await ensureDurableFolder(parent);
  try {
    await mkdir(path, { mode: 0o700 });
    await syncDir(parent);
    faultPoint('store:folder-made');
  } catch (error) {
    if (!isHarmless(error)) throw writeError(path, error);
  }
}

/** Another writer was faster; or the folder above may be passed but not opened, and so not synced. */
function isHarmless(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return (
    error.code === 'EEXIST' ||
    (error.code === 'EACCES' && 'syscall' in error && error.syscall === 'open')
  );
}
