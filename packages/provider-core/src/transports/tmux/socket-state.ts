import { createConnection } from 'node:net';
import { observePid } from '../../state/process-identity.js';
import { errorCode } from '../../state/state-error.js';
import { waitUntil } from '../../time/wait-until.js';
import { type CommandLimits, withDeadline } from './deadline.js';
import { findServerProcess } from './server-process.js';
import { TmuxError } from './tmux-error.js';

const PROBE_DEADLINE_MS = 2_000;

/** Whether something listens on the socket, without asking tmux. Recreates the socket file of a living server. */
export async function findSocketState(
  socketPath: string,
  { deadlineMs = PROBE_DEADLINE_MS, signal }: CommandLimits = {},
): Promise<'answered' | 'gone' | 'unknown'> {
  const socket = await probeSocket(socketPath, { deadlineMs, signal });
  if (socket !== 'closed') return socket;
  const server = await findServerProcess(socketPath);
  if (server.state !== 'alive') return server.state === 'none' ? 'gone' : 'unknown';
  return recreateSocket({ ...server, socketPath, deadlineMs, signal });
}

interface RecreateRequest extends CommandLimits {
  readonly socketPath: string;
  readonly pid: number;
  readonly startTime: string;
}

/**
 * A cleaner of temporary files takes the socket away under a living server; SIGUSR1 makes tmux bind it again. A server
 * that is just ending has no socket either: it ends instead.
 */
async function recreateSocket(request: RecreateRequest): Promise<'answered' | 'gone' | 'unknown'> {
  const { socketPath, pid, startTime, deadlineMs = PROBE_DEADLINE_MS, signal } = request;
  try {
    process.kill(pid, 'SIGUSR1');
  } catch (error) {
    return errorCode(error) === 'ESRCH' ? 'gone' : 'unknown';
  }
  const look = async () => {
    if ((await probeSocket(socketPath, { deadlineMs, signal })) === 'answered') return 'answered';
    return observePid(pid, startTime) === 'dead' && 'gone';
  };
  const awaiting = 'the tmux socket to come back';
  try {
    return await waitUntil(look, { awaiting, deadlineMs, signal, layer: 'tmux' });
  } catch {
    signal?.throwIfAborted();
    return 'unknown';
  }
}

async function probeSocket(
  socketPath: string,
  limits: CommandLimits,
): Promise<'answered' | 'closed' | 'unknown'> {
  const socket = createConnection(socketPath);
  const outcome = new Promise<'answered' | 'closed' | 'unknown'>((resolve) => {
    socket.once('connect', () => resolve('answered'));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code === 'ENOENT' || error.code === 'ECONNREFUSED' ? 'closed' : 'unknown');
    });
  });
  const missed = () => new TmuxError('unresponsive', 'The tmux socket took no connection in time.');
  try {
    return await withDeadline(outcome, { ...limits, missed });
  } catch (error) {
    if (error instanceof TmuxError) return 'unknown';
    throw error;
  } finally {
    socket.destroy();
  }
}
