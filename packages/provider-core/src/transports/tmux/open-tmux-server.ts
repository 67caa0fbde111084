import { dirname } from 'node:path';
import { ensurePrivateDir } from '../../state/private-dir.js';
import { waitUntil } from '../../time/wait-until.js';
import { CommandChannel } from './command-channel.js';
import type { CommandLimits } from './deadline.js';
import { SERVER_OPTIONS_SCRIPT } from './pane-scripts.js';
import { findSharedServer, shareServer } from './server-pool.js';
import { recordServerProcess } from './server-process.js';
import { checkTmuxVersion, createTmuxClient, type TmuxClientOptions } from './tmux-client.js';
import { isTmuxError, TmuxError } from './tmux-error.js';
import type { TmuxServer } from './tmux-server.js';

/** Connects to our server on the socket, or starts one that outlives this process. */
export async function openTmuxServer(
  options: TmuxClientOptions,
  limits: CommandLimits = {},
): Promise<TmuxServer> {
  return waitUntil(() => connectOrStart(options, limits), {
    awaiting: 'the tmux server to start',
    deadlineMs: START_DEADLINE_MS,
    signal: limits.signal,
    layer: 'tmux',
  });
}

/**
 * Connects to our server if one runs; starts none. Cheaper than observing it first. A server that cannot be talked to is a
 * {@link TmuxError}, not absent.
 */
export async function findTmuxServer(
  options: TmuxClientOptions,
  limits: CommandLimits = {},
): Promise<TmuxServer | undefined> {
  return (await findSharedServer(options, limits)) ?? connectToServer(options, limits);
}

async function connectToServer(
  options: TmuxClientOptions,
  limits: CommandLimits,
): Promise<TmuxServer | undefined> {
  const listeners = new Set<() => void>();
  const channel = new CommandChannel({
    client: options,
    onNotification: (line) => {
      if (CHANGES.test(line)) for (const listener of listeners) listener();
    },
  });
  try {
    await channel.connect(limits);
    await prepareServer(channel, options, limits);
    return shareServer(options, { channel, listeners });
  } catch (error) {
    await channel.close();
    if (isTmuxError(error, 'server_gone')) return undefined;
    throw error;
  }
}

const START_DEADLINE_MS = 10_000;
const CHANGES = /^%(?:sessions-changed|(?:unlinked-)?window-close|exit)\b/;

/** Nothing when it should be tried again: a server that is just ending takes a new start down with it. */
async function connectOrStart(
  options: TmuxClientOptions,
  limits: CommandLimits,
): Promise<TmuxServer | undefined> {
  const running = await findTmuxServer(options, limits);
  if (running) return running;
  await startServer(options, limits);
  return findTmuxServer(options, limits);
}

async function startServer(options: TmuxClientOptions, limits: CommandLimits): Promise<void> {
  await checkTmuxVersion(options, limits);
  await ensurePrivateDir(dirname(options.socketPath));
  const { error } = await createTmuxClient(options).startServer(limits);
  // Two who start at once: tmux serialises them, and the second finds the keeper there.
  if (error === undefined || /duplicate session|exited unexpectedly|lost server/.test(error))
    return;
  throw new TmuxError('command_failed', `The tmux server did not start: ${error.trim()}`);
}

async function prepareServer(
  channel: CommandChannel,
  { socketPath }: TmuxClientOptions,
  limits: CommandLimits,
): Promise<void> {
  const { error } = await channel.read(SERVER_OPTIONS_SCRIPT, limits);
  if (error !== undefined) {
    throw new TmuxError('command_failed', `tmux refused an option: ${error.trim()}`);
  }
  if (channel.serverPid !== undefined) await recordServerProcess(socketPath, channel.serverPid);
}
