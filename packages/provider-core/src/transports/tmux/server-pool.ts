import { existsSync } from 'node:fs';
import { startTicker } from '../../time/ticker.js';
import type { CommandChannel } from './command-channel.js';
import type { CommandLimits } from './deadline.js';
import type { TmuxClientOptions } from './tmux-client.js';
import { TmuxServer } from './tmux-server.js';

interface SharedServer {
  readonly channel: CommandChannel;
  readonly listeners: Set<() => void>;
}

interface PooledServer extends SharedServer {
  users: number;
  idle: Disposable | undefined;
}

/** How long a connection nobody uses stays, so that the next turn finds it. It keeps no process alive meanwhile. */
const IDLE_MS = 60_000;

const pool = new Map<string, PooledServer>();

/** The connection of this process to the server on the socket, if there is one and it answers. */
export async function findSharedServer(
  options: TmuxClientOptions,
  limits: CommandLimits,
): Promise<TmuxServer | undefined> {
  const key = keyOf(options);
  const pooled = pool.get(key);
  // Without its socket nobody else reaches the server: connecting anew brings it back.
  if (!pooled || !existsSync(options.socketPath)) return undefined;
  const server = await lend(key, pooled);
  try {
    if (await pooled.channel.isAlive(limits)) return server;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
  if (pool.get(key) === pooled) pool.delete(key);
  await server[Symbol.asyncDispose]();
  return undefined;
}

/** Shares a new connection with the whole process. */
export async function shareServer(
  options: TmuxClientOptions,
  shared: SharedServer,
): Promise<TmuxServer> {
  const key = keyOf(options);
  const pooled: PooledServer = { ...shared, users: 0, idle: undefined };
  pool.set(key, pooled);
  return lend(key, pooled);
}

async function lend(key: string, pooled: PooledServer): Promise<TmuxServer> {
  pooled.users += 1;
  pooled.idle?.[Symbol.dispose]();
  if (pooled.users === 1) await pooled.channel.keepProcessAlive(true);
  let isReleased = false;
  return new TmuxServer(pooled.channel, pooled.listeners, async () => {
    if (isReleased) return;
    isReleased = true;
    await release(key, pooled);
  });
}

async function release(key: string, pooled: PooledServer): Promise<void> {
  pooled.users -= 1;
  if (pooled.users > 0) return;
  if (pool.get(key) !== pooled) {
    await pooled.channel.close();
    return;
  }
  await pooled.channel.keepProcessAlive(false);
  pooled.idle = startTicker(IDLE_MS, () => {
    pooled.idle?.[Symbol.dispose]();
    if (pooled.users > 0) return;
    if (pool.get(key) === pooled) pool.delete(key);
    pooled.channel.close().catch(() => {});
  });
}

function keyOf({ socketPath, tmuxBinary }: TmuxClientOptions): string {
  return `${socketPath}\n${tmuxBinary ?? ''}`;
}
