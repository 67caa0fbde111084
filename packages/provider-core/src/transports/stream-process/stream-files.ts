import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '../../state/atomic-write.js';
import { observePid, ownIdentity, parseProcessStatus } from '../../state/process-identity.js';
import type { FoundProcess } from '../../state/process-tree.js';
import type { SessionContext } from '../session-transport.js';

/** The context with a private folder of this way's own: what a pane's launch plans stays as it is. */
export function inStreamFolder(context: SessionContext): SessionContext {
  return { ...context, filesDir: join(context.filesDir, 'stream') };
}

/** Paths inside the way's folder. */
export const streamFiles = ({ filesDir }: Pick<SessionContext, 'filesDir'>) => ({
  /** A named pipe that the process itself keeps open: no end of ours is an end of its input. */
  input: join(filesDir, 'input'),
  output: join(filesDir, 'output.jsonl'),
  errors: join(filesDir, 'errors.log'),
  /** Written by the start script: the process's line in `/proc`, and the boot it was written in. */
  process: join(filesDir, 'process'),
  /** Stands while the process may begin a turn by itself. */
  finishing: join(filesDir, 'finishing'),
  /** Where in the output the last message's turn begins. */
  turn: join(filesDir, 'turn.json'),
});

/**
 * Starts the CLI in place of itself. The record of the process stands before the CLI runs, so that none is ever lost. The
 * pipe is opened for both directions: it opens at once, and never ends. What a confined CLI left there is taken away: a link
 * of its would be written through.
 */
export const START_SCRIPT = [
  'umask 077',
  'dir=$1; shift',
  'rm -f "$dir"/input "$dir"/output.jsonl "$dir"/errors.log "$dir"/turn.json "$dir"/process.tmp',
  'mkfifo "$dir"/input || exit 126',
  '{ cat "/proc/$$/stat" && cat /proc/sys/kernel/random/boot_id; } >"$dir"/process.tmp || exit 126',
  'mv "$dir"/process.tmp "$dir"/process || exit 126',
  'exec "$@" 0<>"$dir"/input 1>>"$dir"/output.jsonl 2>>"$dir"/errors.log',
].join('\n');

/** Writes down which process is the CLI, where a launcher was started in front of it. */
export async function saveStreamProcess(context: SessionContext, pid: number): Promise<void> {
  const content = `${readText(`/proc/${pid}/stat`).trimEnd()}\n${ownIdentity().bootId}\n`;
  await writeFileAtomic(streamFiles(context).process, content, { durable: false });
}

/** The session's process as it was written down; nothing when none ever was, or it is dead. */
export async function findStreamProcess(
  context: SessionContext,
): Promise<(FoundProcess & { readonly state: 'alive' | 'unknown' }) | undefined> {
  const text = readText(streamFiles(context).process);
  const [line = '', bootId] = text.split('\n');
  const status = parseProcessStatus(Number.parseInt(line, 10), line);
  if (!status || bootId !== ownIdentity().bootId) return undefined;
  const { pid, startTime } = status;
  const state = observePid(pid, startTime);
  return state === 'dead' ? undefined : { pid, startTime, state };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Whether something stands at the path. */
export async function exists(path: string): Promise<boolean> {
  return existsSync(path);
}
