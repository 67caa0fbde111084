import { keys } from '../../persistence/keys.js';
import type { CodingDesk } from './coding-desk.js';
import { readCodingJob } from './coding-job-files.js';
import { type CodingJobRecord, isOpen } from './coding-job-record.js';
import { type CodingJobNote, findNote } from './coding-job-record.wire.js';

/** The reason of a job's cancel, if somebody cancelled it. */
export async function findCancel(
  { store }: CodingDesk,
  jobId: string,
): Promise<string | undefined> {
  for await (const entry of store.readLog(keys.codingLog(jobId))) {
    const note = findNote(entry);
    if (note?.type === 'cancelled') return note.reason;
  }
  return undefined;
}

/** Tells of a cancel as soon as it is on disk, whichever builder wrote it; ends with the signal. */
export async function watchCancel(
  desk: CodingDesk,
  jobId: string,
  {
    signal,
    onCancel,
  }: { readonly signal: AbortSignal; readonly onCancel: (reason: string) => void },
): Promise<void> {
  for await (const note of followNotes(desk, jobId, signal)) {
    if (note.type === 'cancelled') onCancel(note.reason);
  }
}

/** Waits for a job's end, wherever it runs. Rejects with the signal's reason, or when the builder closes. */
export async function waitForEnd(
  desk: CodingDesk,
  jobId: string,
  signal: AbortSignal | undefined,
): Promise<CodingJobRecord> {
  const found = await getCodingJob(desk, jobId);
  if (!isOpen(found)) return found;
  const over = new AbortController();
  const signals = [over.signal, signal, desk.closing].filter((one) => one !== undefined);
  try {
    for await (const note of followNotes(desk, jobId, AbortSignal.any(signals))) {
      if (note.type !== 'ended') continue;
      const record = await getCodingJob(desk, jobId);
      if (!isOpen(record)) return record;
    }
  } finally {
    over.abort();
  }
  signal?.throwIfAborted();
  throw new TypeError(`This builder was closed before the job ${jobId} ended.`);
}

/** A job that must be there. */
export async function getCodingJob(desk: CodingDesk, jobId: string): Promise<CodingJobRecord> {
  const record = await readCodingJob(desk, jobId);
  if (record) return record;
  throw new TypeError(`There is no coding job ${jobId}.`);
}

async function* followNotes(
  { store }: CodingDesk,
  jobId: string,
  follow: AbortSignal,
): AsyncGenerator<CodingJobNote> {
  if (follow.aborted) return;
  for await (const entry of store.readLog(keys.codingLog(jobId), { follow })) {
    const note = findNote(entry);
    if (note) yield note;
  }
}
