import { CliUnusableError } from '../../errors/turn-error.js';
import type { ServedCall, ServedDecline, ServedFrame, ServedPane } from '../../spec/served-pane.js';
import { JsonRpcConnection, type JsonRpcLimits } from '../json-rpc/json-rpc-connection.js';
import { openWebSocketChannel } from '../json-rpc/web-socket-channel.js';
import type { SessionContext } from '../session-transport.js';

/** What the server says by itself, as it comes. */
export interface ServerListener {
  readonly onFrame: (frame: ServedFrame) => void;
  readonly onDecline: (decline: ServedDecline) => void;
}

/** One initialised connection to a server. Disposing closes it; the server and its turns go on. */
export class ServerConnection implements Disposable {
  readonly #rpc: JsonRpcConnection;
  readonly #listeners = new Set<ServerListener>();

  constructor(way: ServedPane, channel: ConstructorParameters<typeof JsonRpcConnection>[0]) {
    this.#rpc = new JsonRpcConnection(channel, {
      onNotification: (method, params) => {
        const frame = way.protocol.readFrame(method, params);
        for (const listener of this.#listeners) listener.onFrame(frame);
      },
      onRequest: (method, params) => {
        const decline = way.protocol.declineRequest(method, params);
        if (decline) for (const listener of this.#listeners) listener.onDecline(decline);
        return decline?.result;
      },
    });
  }

  /** Calls back once when the connection is gone, at once when it is gone already. */
  onClosed(listener: () => void): () => void {
    return this.#rpc.onClosed(listener);
  }

  get isClosed(): boolean {
    return this.#rpc.isClosed;
  }

  call(call: ServedCall, limits?: JsonRpcLimits): Promise<unknown> {
    return this.#rpc.request(call, limits);
  }

  notify(call: ServedCall): void {
    this.#rpc.notify(call);
  }

  listen(listener: ServerListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  [Symbol.dispose](): void {
    this.#rpc[Symbol.dispose]();
  }
}

const CLIENT = { name: 'holdfast', version: '1' };

/** Connects and introduces itself; a server of another version or home than was asked for is refused. */
export async function connectToServer(
  way: ServedPane,
  context: Pick<SessionContext, 'binary' | 'cliVersion'>,
  socketPath: string,
  limits: { readonly deadlineMs: number; readonly signal?: AbortSignal | undefined },
): Promise<ServerConnection> {
  const channel = await openWebSocketChannel(socketPath, limits);
  const connection = new ServerConnection(way, channel);
  try {
    const { protocol } = way;
    const server = protocol.readServer(await connection.call(protocol.initialize(CLIENT), limits));
    connection.notify(protocol.initialized);
    if (server.version !== undefined && server.version !== context.cliVersion) {
      throw new CliUnusableError(
        context.binary,
        'unresponsive',
        `its server is of version ${server.version}, not ${context.cliVersion}. Nothing was sent; check which binary is installed.`,
      );
    }
    return connection;
  } catch (error) {
    connection[Symbol.dispose]();
    throw error;
  }
}
