import * as z from 'zod';
import { StateUnusableError } from '../errors/turn-error.js';
import { moveAside, readJsonFile, writeFileAtomic } from './atomic-write.js';
import { refuseExpired } from './expired-ids.js';
import { startRecordCodec } from './start-record.wire.js';
import type { StateLayout } from './state-layout.js';

/** A start by its turn's id, written before any process is spawned, so that the same id finds it again. */
export interface StartRecord {
  readonly turnId: string;
  readonly messageDigest: string;
  readonly provider: string;
  readonly configDigest: string;
  /** Absent until the session's native id is chosen or told. */
  readonly nativeSessionId?: string | undefined;
  /** Ids of earlier attempts that never held the message. */
  readonly abandonedNativeIds: readonly string[];
  readonly createdAt: string;
}

/** The start that was made under this id; absent when there was none. A damaged one is moved aside and thrown. */
export async function readStartRecord(
  layout: StateLayout,
  turnId: string,
): Promise<StartRecord | undefined> {
  const path = layout.startFile(turnId);
  const file = await readJsonFile(path);
  if (file.state === 'absent') {
    await refuseExpired(path);
    return undefined;
  }
  const decoded = file.state === 'present' ? startRecordCodec.safeParse(file.value) : undefined;
  if (decoded?.success) return decoded.data;
  const movedTo = file.state === 'damaged' ? file.movedTo : await moveAside(path);
  throw new StateUnusableError(
    path,
    'damaged',
    `whether this turn started a session is not known. The file was moved to ${movedTo}; repair and put it back, or use a new turnId.`,
  );
}

/** Replaces the record of a start. */
export async function saveStartRecord(layout: StateLayout, record: StartRecord): Promise<void> {
  const json = z.encode(startRecordCodec, record);
  await writeFileAtomic(layout.startFile(record.turnId), `${JSON.stringify(json, null, 2)}\n`);
}
