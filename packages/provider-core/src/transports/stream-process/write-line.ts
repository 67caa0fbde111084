import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { TimedOutError } from '../../errors/turn-error.js';
import { endProcesses, type FoundProcess } from '../../state/process-tree.js';
import { errorCode } from '../../state/state-error.js';
import type { SessionContext } from '../session-transport.js';
import { streamFiles } from './stream-files.js';

/** A pipe takes 64 KiB; the rest waits until the process reads. */
const WRITE_DEADLINE_MS = 30_000;
const NO_READER: ReadonlySet<string> = new Set(['ENXIO', 'ENOENT', 'EPIPE']);

/**
 * Writes one line into the process's input. It begins on a line of its own: what a writer that died left unfinished is then
 * no line for the CLI, which ends, and is started anew.
 */
export async function writeLine(
  context: SessionContext,
  process: FoundProcess,
  line: string,
): Promise<'written' | 'no_process'> {
  const path = streamFiles(context).input;
  let fd: number;
  try {
    fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (NO_READER.has(errorCode(error) ?? '')) return 'no_process';
    throw error;
  }
  const written = new AbortController();
  const isLate = context.clock.sleep(WRITE_DEADLINE_MS, written.signal).then(
    () => 'late' as const,
    () => 'late' as const,
  );
  const socket = openPipe(fd);
  try {
    const outcome = await Promise.race([writeWhole(socket, `\n${line}\n`), isLate]);
    if (outcome !== 'late') return outcome;
  } finally {
    written.abort();
    socket.destroy();
  }
  // Half of a line is in there: nothing more may be said to this process.
  await endProcesses([process], { graceMs: 0 });
  throw new TimedOutError({
    awaiting: 'the CLI to read the message',
    limitMs: WRITE_DEADLINE_MS,
    layer: 'stream-process',
  });
}

function openPipe(fd: number): Socket {
  try {
    return new Socket({ fd, readable: false, writable: true });
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function writeWhole(socket: Socket, text: string): Promise<'written' | 'no_process'> {
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => {
      if (NO_READER.has(errorCode(error) ?? '')) resolve('no_process');
      else reject(error);
    });
    socket.end(text, () => resolve('written'));
  });
}
