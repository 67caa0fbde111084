import type { OpenedServedSession, ServedCall } from '../../spec/served-pane.js';
import type { JsonRpcLimits } from '../json-rpc/json-rpc-connection.js';
import { JsonRpcLost } from '../json-rpc/json-rpc-error.js';
import type { SessionListener, SharedConnection } from './shared-connection.js';

/**
 * One user's part of the connection to a server. Disposing closes this part alone: whoever has lost the right to write
 * has no connection, and the others keep theirs.
 */
export class ServerConnection implements Disposable {
  readonly #shared: SharedConnection;
  readonly #release: () => void;
  readonly #stops = new Set<() => void>();
  readonly #closed = new AbortController();
  readonly #stopWatching: () => void;

  constructor(shared: SharedConnection, release: () => void) {
    this.#shared = shared;
    this.#release = release;
    this.#stopWatching = shared.rpc.onClosed(() => this.#closed.abort());
  }

  /** Calls back once when the connection is gone, at once when it is gone already. */
  onClosed(listener: () => void): () => void {
    const { signal } = this.#closed;
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener, { once: true });
    return () => signal.removeEventListener('abort', listener);
  }

  get isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  /** Sends a call and gives its result, like `JsonRpcConnection.request`. */
  async call(call: ServedCall, limits: JsonRpcLimits = {}): Promise<unknown> {
    if (this.isClosed) throw new JsonRpcLost(call.method, false, 'closed');
    return this.#shared.rpc.request(call, limits);
  }

  /** From now on the session's requests wait for a listener. Said before the session is opened. */
  expect(nativeSessionId: string): void {
    this.#shared.expect(nativeSessionId);
  }

  /** The session as the same call opened it over this process's connection, if nothing has changed since. */
  findServed(nativeSessionId: string, by: ServedCall): OpenedServedSession | undefined {
    return this.#shared.findServed(nativeSessionId, JSON.stringify(by));
  }

  /** Keeps how a call opened a session: the server tells of it from now on, and of every change to it. */
  keepServed(opened: OpenedServedSession, by: ServedCall): void {
    this.#shared.keepServed(opened, JSON.stringify(by));
  }

  /** What the session was opened with may not be so any more. */
  forgetServed(nativeSessionId: string): void {
    this.#shared.forgetServed(nativeSessionId);
  }

  listen(listener: SessionListener): () => void {
    const stop = this.#shared.listen(listener);
    this.#stops.add(stop);
    return stop;
  }

  [Symbol.dispose](): void {
    this.#stopWatching();
    for (const stop of this.#stops) stop();
    this.#stops.clear();
    this.#closed.abort();
    this.#release();
  }
}
