import { unlink } from 'node:fs/promises';
import * as z from 'zod';
import { StateUnusableError } from '../errors/turn-error.js';
import { moveAside, readJsonFile, writeFileAtomic } from './atomic-write.js';
import { isAbsentError, writeError } from './state-error.js';
import type { StateLayout } from './state-layout.js';

/** Says which turn of the session is not settled yet; durable before anything of it is sent. */
export async function markOpenTurn(
  layout: StateLayout,
  provider: string,
  nativeId: string,
  turnId: string,
): Promise<void> {
  const path = layout.openTurn(provider, nativeId);
  await writeFileAtomic(path, `${JSON.stringify({ turn_id: turnId })}\n`);
}

/** The session's unsettled turn. A mark may be older than its turn's end, so the turn's journal decides. */
export async function readOpenTurn(
  layout: StateLayout,
  provider: string,
  nativeId: string,
): Promise<string | undefined> {
  const path = layout.openTurn(provider, nativeId);
  const file = await readJsonFile(path);
  if (file.state === 'absent') return undefined;
  const mark = file.state === 'present' ? markSchema.safeParse(file.value) : undefined;
  if (mark?.success) return mark.data.turn_id;
  const movedTo = file.state === 'damaged' ? file.movedTo : await moveAside(path);
  throw new StateUnusableError(
    path,
    'damaged',
    `which turn of the session is unsettled is not known. The mark was moved to ${movedTo}; inspect the session, then remove it.`,
  );
}

const markSchema = z.object({ turn_id: z.string().min(1) });

/** Takes the mark away after the turn has settled; one that comes back after a power cut does no harm. */
export async function clearOpenTurn(
  layout: StateLayout,
  provider: string,
  nativeId: string,
): Promise<void> {
  const path = layout.openTurn(provider, nativeId);
  try {
    await unlink(path);
  } catch (error) {
    if (!isAbsentError(error)) throw writeError(path, error);
  }
}
