import type { CommandLimits } from './deadline.js';
import { findSharedServer } from './server-pool.js';
import { findSocketState } from './socket-state.js';
import { createTmuxClient, type TmuxClientOptions } from './tmux-client.js';
import { TmuxError } from './tmux-error.js';

/** Three-valued: a server that cannot be talked to is unknown, never gone. */
export type TmuxServerState = 'running' | 'gone' | 'unknown';

const PROBE_DEADLINE_MS = 2_000;

/** Says whether a server answers on the socket. Starts none; recreates the socket file of a living server. */
export async function observeTmuxServer(
  options: TmuxClientOptions,
  { deadlineMs = PROBE_DEADLINE_MS, signal }: CommandLimits = {},
): Promise<TmuxServerState> {
  try {
    await using shared = await findSharedServer(options, { deadlineMs, signal });
    if (shared) return 'running';
  } catch (error) {
    if (error instanceof TmuxError) return 'unknown';
    throw error;
  }
  return askServer(options, { deadlineMs, signal });
}

async function askServer(
  options: TmuxClientOptions,
  limits: CommandLimits,
): Promise<TmuxServerState> {
  const state = await findSocketState(options.socketPath, limits);
  if (state !== 'answered') return state;
  try {
    const script = 'display-message -p running';
    const { error } = await createTmuxClient(options).runScript(script, limits);
    return error === undefined ? 'running' : 'unknown';
  } catch (error) {
    if (error instanceof TmuxError) return 'unknown';
    throw error;
  }
}
