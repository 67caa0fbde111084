import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { TimedOutError } from '../../errors/turn-error.js';
import { endProcesses, type FoundProcess } from '../../state/process-tree.js';
import { errorCode } from '../../state/state-error.js';
import type { Clock } from '../../time/clock.js';
import type { SessionContext } from '../session-transport.js';
import { streamFiles } from './stream-files.js';

/** A pipe takes 64 KiB; the rest waits until the process reads. */
const WRITE_DEADLINE_MS = 30_000;
/** A pipe without a reader, or none at all. */
const NO_READER: ReadonlySet<string> = new Set(['ENXIO', 'ENOENT', 'EPIPE']);

/** How long the process may take to read, and who gives up before. */
export interface WriteLimits {
  readonly deadlineMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes one line into the process's input. It begins on a line of its own: what a writer that died left unfinished is then
 * no line for the CLI, which ends, and is started anew. A process that cannot be spoken to any more is ended.
 */
export async function writeLine(
  context: SessionContext,
  process: FoundProcess,
  line: string,
  { deadlineMs = WRITE_DEADLINE_MS, signal }: WriteLimits = {},
): Promise<'written' | 'no_process'> {
  const fd = openInput(streamFiles(context).input);
  const outcome =
    fd === undefined
      ? 'no_process'
      : await writeOut(fd, Buffer.from(`\n${line}\n`), {
          deadlineMs,
          signal,
          clock: context.clock,
        });
  if (outcome === 'written') return outcome;
  // Half of a line is in there, or its input is gone: nothing more can be said to this process.
  await endProcesses([process], { graceMs: 0 });
  if (outcome === 'no_process') return outcome;
  signal?.throwIfAborted();
  throw new TimedOutError({
    awaiting: 'the CLI to read the message',
    limitMs: deadlineMs,
    layer: 'stream-process',
  });
}

function openInput(path: string): number | undefined {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (NO_READER.has(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}

/** What the pipe takes at once is in it at once; for the rest the process is waited for. */
async function writeOut(
  fd: number,
  bytes: Buffer,
  limits: { readonly deadlineMs: number; readonly clock: Clock } & WriteLimits,
): Promise<'written' | 'no_process' | 'late'> {
  const taken = writeNow(fd, bytes);
  if (typeof taken === 'number' && taken < bytes.length) {
    return writeInTime(fd, bytes.subarray(taken), limits);
  }
  closeSync(fd);
  return taken === 'no_process' ? taken : 'written';
}

function writeNow(fd: number, bytes: Buffer): number | 'no_process' {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (code === 'EAGAIN') return 0;
    if (NO_READER.has(code)) return 'no_process';
    closeSync(fd);
    throw error;
  }
}

async function writeInTime(
  fd: number,
  bytes: Buffer,
  {
    deadlineMs,
    signal,
    clock,
  }: { readonly deadlineMs: number; readonly clock: Clock } & WriteLimits,
): Promise<'written' | 'no_process' | 'late'> {
  const written = new AbortController();
  const given = signal ? AbortSignal.any([written.signal, signal]) : written.signal;
  const isLate = clock.sleep(deadlineMs, given).then(
    () => 'late' as const,
    () => 'late' as const,
  );
  const socket = openPipe(fd);
  try {
    return await Promise.race([writeWhole(socket, bytes), isLate]);
  } finally {
    written.abort();
    socket.destroy();
  }
}

function openPipe(fd: number): Socket {
  try {
    return new Socket({ fd, readable: false, writable: true });
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function writeWhole(socket: Socket, bytes: Buffer): Promise<'written' | 'no_process'> {
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => {
      if (NO_READER.has(errorCode(error) ?? '')) resolve('no_process');
      else reject(error);
    });
    socket.end(bytes, () => resolve('written'));
  });
}
