import { CliUnusableError } from '../../errors/turn-error.js';
import type { ServedPane } from '../../spec/served-pane.js';
import { startTicker } from '../../time/ticker.js';
import { JsonRpcLost } from '../json-rpc/json-rpc-error.js';
import { openWebSocketChannel } from '../json-rpc/web-socket-channel.js';
import type { SessionContext } from '../session-transport.js';
import { withDeadline } from '../tmux/deadline.js';
import type { ServerConnection } from './server-connection.js';
import type { ServerRecord } from './server-record.wire.js';
import { SharedConnection } from './shared-connection.js';

const CLIENT = { name: 'holdfast', version: '1' };

/** How long a connection that nobody uses is kept for the next turn. The watchdog sees it as a client. */
const IDLE_MS = 30_000;
const CONNECT_DEADLINE_MS = 10_000;

/** One connection for each server that answered to this process, by the server's nonce. */
const connections = new Map<string, Promise<ConnectedServer>>();

interface ConnectedServer {
  readonly shared: SharedConnection;
  readonly version: string | undefined;
}

interface ConnectLimits {
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Borrows this process's connection to the server, and makes it first where there is none or it is gone. */
export async function connectToServer(
  way: ServedPane,
  record: Pick<ServerRecord, 'nonce' | 'socketPath'>,
  limits: ConnectLimits,
): Promise<ServerConnection> {
  const { shared } = await reach(way, record, limits);
  return shared.borrow();
}

/** The same for a server that is to be worked with: one of another version than was asked for is refused. */
export async function connectToOwnServer(
  way: ServedPane,
  context: Pick<SessionContext, 'binary' | 'cliVersion'>,
  record: Pick<ServerRecord, 'nonce' | 'socketPath'>,
  limits: ConnectLimits,
): Promise<ServerConnection> {
  const { shared, version } = await reach(way, record, limits);
  if (version !== undefined && version !== context.cliVersion) {
    throw new CliUnusableError(
      context.binary,
      'unresponsive',
      `its server is of version ${version}, not ${context.cliVersion}. Nothing was sent; check which binary is installed.`,
    );
  }
  return shared.borrow();
}

/** Closes what nobody uses at the moment, as if its time were up. */
export async function closeIdleConnections(): Promise<void> {
  for (const connecting of connections.values()) {
    const connected = await connecting.catch(() => undefined);
    if (connected && !connected.shared.isUsed) connected.shared.close();
  }
}

function reach(
  way: ServedPane,
  { nonce, socketPath }: Pick<ServerRecord, 'nonce' | 'socketPath'>,
  limits: ConnectLimits,
): Promise<ConnectedServer> {
  const connecting = connections.get(nonce) ?? connect(way, nonce, socketPath);
  // Others may wait for the same connection: who gives up leaves it to them.
  return withDeadline(connecting, {
    ...limits,
    missed: () => new JsonRpcLost('connect', false, 'deadline'),
  });
}

function connect(way: ServedPane, nonce: string, socketPath: string): Promise<ConnectedServer> {
  const connecting = openConnection(way, socketPath, forget);
  connections.set(nonce, connecting);
  connecting.catch(forget);
  return connecting;

  function forget(): void {
    if (connections.get(nonce) === connecting) connections.delete(nonce);
  }
}

async function openConnection(
  way: ServedPane,
  socketPath: string,
  onClosed: () => void,
): Promise<ConnectedServer> {
  const limits = { deadlineMs: CONNECT_DEADLINE_MS };
  const channel = await openWebSocketChannel(socketPath, limits);
  let idle: Disposable | undefined;
  const shared: SharedConnection = new SharedConnection(way, channel, (isUsed) => {
    idle?.[Symbol.dispose]();
    idle = isUsed ? undefined : startTicker(IDLE_MS, () => shared.close());
  });
  shared.rpc.onClosed(() => {
    idle?.[Symbol.dispose]();
    onClosed();
  });
  try {
    const { protocol } = way;
    const server = protocol.readServer(
      await shared.rpc.request(protocol.initialize(CLIENT), limits),
    );
    shared.rpc.notify(protocol.initialized);
    return { shared, version: server.version };
  } catch (error) {
    shared.close();
    throw error;
  }
}
