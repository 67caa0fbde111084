import type { RecordFolder } from '../../spec/served-pane.js';

const SESSIONS = 'sessions';
const DAY_MS = 86_400_000;

/**
 * Where the rollout of a thread may stand. A thread's id carries the moment it was made, and the
 * folder is named after that day in local time, so three days are looked into before all of them.
 */
export function rolloutFolders(threadId: string): readonly RecordFolder[] {
  const madeAt = readUuidTime(threadId);
  const days = madeAt === undefined ? [] : [0, -1, 1].map((day) => madeAt + day * DAY_MS);
  return [
    ...days.map((day) => ({ path: dayFolder(day), depth: 0 })),
    { path: 'archived_sessions', depth: 0 },
    { path: SESSIONS, depth: 3 },
  ];
}

/** Tells whether the file is the rollout of this thread, by its name alone. */
export function isRollout(fileName: string, threadId: string): boolean {
  return fileName.startsWith('rollout-') && fileName.endsWith(`-${threadId}.jsonl`);
}

/** A rollout that Codex has compressed; it is there, but is not read here. */
export function isCompressedRollout(fileName: string, threadId: string): boolean {
  return fileName.startsWith('rollout-') && fileName.includes(`-${threadId}.jsonl.`);
}

/** The file whose lock says that a process writes the thread. */
export function writerLock(threadId: string): string {
  return `thread-writer-locks/${threadId}.lock`;
}

/** The first 48 bits of a version 7 UUID are its time in milliseconds. */
function readUuidTime(id: string): number | undefined {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-/i.exec(id) ?? [];
  return high && low ? Number.parseInt(high + low, 16) : undefined;
}

const DAY_PARTS = new Intl.DateTimeFormat('en-US', {
  timeZone: 'UTC',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
});

function dayFolder(time: number): string {
  const parts = new Map(DAY_PARTS.formatToParts(time).map(({ type, value }) => [type, value]));
  return `${SESSIONS}/${parts.get('year')}/${parts.get('month')}/${parts.get('day')}`;
}
