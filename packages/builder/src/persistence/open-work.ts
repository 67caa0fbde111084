import { readdir, rm } from 'node:fs/promises';
import { StateUnusableError, writeFileAtomic } from '@holdfast/agent';
import type { BuilderLayout } from './layout.js';

/** Says on disk that a chat owes something, before it owes it. */
export async function markOpen(layout: BuilderLayout, chatId: string): Promise<void> {
  await writeFileAtomic(layout.openMarker(chatId), '{}\n');
}

/** Takes the mark away. One that is left behind is harmless: the log is the truth. */
export async function unmarkOpen(layout: BuilderLayout, chatId: string): Promise<void> {
  // A completed turn must not fail for it.
  await rm(layout.openMarker(chatId), { force: true }).catch(() => {});
}

/** The names in a folder; none when it is not there. Unreadable is a `StateUnusableError`, never empty. */
export async function listNames(path: string): Promise<readonly string[]> {
  try {
    return (await readdir(path)).filter((name) => !name.startsWith('.'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw new StateUnusableError(path, 'unreadable', 'it cannot be listed.', { cause: error });
  }
}
