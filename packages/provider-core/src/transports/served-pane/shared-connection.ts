import type {
  OpenedServedSession,
  ServedFrame,
  ServedPane,
  ServedRequest,
} from '../../spec/served-pane.js';
import { JsonRpcConnection, type JsonRpcRequest } from '../json-rpc/json-rpc-connection.js';
import type { WebSocketChannel } from '../json-rpc/web-socket-channel.js';
import { ServerConnection } from './server-connection.js';

/** A request of the server that waits for an answer. */
export interface PendingRequest extends ServedRequest {
  readonly reply: (result: unknown) => void;
}

/** Who hears what the server says of one session. */
export interface SessionListener {
  readonly nativeSessionId: string;
  readonly onFrame: (frame: ServedFrame) => void;
  /** Told again with every new listener, for as long as it waits. */
  readonly onRequest: (request: PendingRequest) => void;
  readonly onSettled: (request: PendingRequest) => void;
}

/** The one connection of this process to a server: many sessions speak over it, each by a connection of its own. */
export class SharedConnection {
  readonly rpc: JsonRpcConnection;
  readonly #way: ServedPane;
  readonly #channel: WebSocketChannel;
  readonly #listeners = new Map<string, Set<SessionListener>>();
  /** By the server's own number. */
  readonly #pending = new Map<number | string, PendingRequest>();
  /** By tool call; forgotten when the turn ends. */
  readonly #toolInputs = new Map<
    string,
    { readonly nativeTurnId?: string; readonly input: unknown }
  >();
  /** Sessions that were listened to, and maybe will be again: what they ask waits for that. */
  readonly #known = new Set<string>();
  /** Sessions that the server tells this connection of, as it opened them, until it says that something changed. */
  readonly #served = new Map<
    string,
    { readonly opened: OpenedServedSession; readonly by: string }
  >();
  readonly #borrowed = new Set<ServerConnection>();
  readonly #onUse: (isUsed: boolean) => void;

  constructor(way: ServedPane, channel: WebSocketChannel, onUse: (isUsed: boolean) => void) {
    this.#way = way;
    this.#channel = channel;
    this.#onUse = onUse;
    this.rpc = new JsonRpcConnection(channel, {
      onNotification: (method, params) => this.#route(way.protocol.readFrame(method, params)),
      onRequest: (request) => this.#ask(request),
    });
    this.#use();
  }

  /** A connection that is closed by itself; the shared one stays. */
  borrow(): ServerConnection {
    const connection = new ServerConnection(this, () => {
      this.#borrowed.delete(connection);
      this.#use();
    });
    this.#borrowed.add(connection);
    this.#use();
    return connection;
  }

  get isUsed(): boolean {
    return this.#borrowed.size > 0;
  }

  /** From now on the session's requests wait for a listener. Said before the server can ask one. */
  expect(nativeSessionId: string): void {
    this.#known.add(nativeSessionId);
  }

  /** How the session was opened over this very connection by the same call, where nothing was told since that changes it. */
  findServed(nativeSessionId: string, by: string): OpenedServedSession | undefined {
    const served = this.#served.get(nativeSessionId);
    return served?.by === by ? served.opened : undefined;
  }

  keepServed(opened: OpenedServedSession, by: string): void {
    this.#served.set(opened.nativeSessionId, { opened, by });
  }

  /** The session is opened anew the next time. */
  forgetServed(nativeSessionId: string): void {
    this.#served.delete(nativeSessionId);
  }

  listen(listener: SessionListener): () => void {
    const { nativeSessionId } = listener;
    const listeners = this.#listeners.get(nativeSessionId) ?? new Set();
    this.#listeners.set(nativeSessionId, listeners.add(listener));
    this.expect(nativeSessionId);
    for (const request of this.#pending.values()) {
      if (request.nativeSessionId === nativeSessionId) listener.onRequest(request);
    }
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(nativeSessionId);
    };
  }

  close(): void {
    this.rpc[Symbol.dispose]();
  }

  #use(): void {
    const { isUsed } = this;
    // An idle connection must not keep a service from ending.
    this.#channel.keepsProcess(isUsed);
    this.#onUse(isUsed);
  }

  #route(frame: ServedFrame): void {
    this.#remember(frame);
    const isChanged = frame.isReset === true || frame.activity === 'unloaded';
    if (isChanged && frame.nativeSessionId !== undefined) this.forgetServed(frame.nativeSessionId);
    const listeners = this.#listenersOf(frame.nativeSessionId);
    for (const listener of listeners) listener.onFrame(frame);
    if (frame.settledRequest === undefined) return;
    const settled = this.#pending.get(frame.settledRequest);
    this.#pending.delete(frame.settledRequest);
    if (settled) for (const listener of listeners) listener.onSettled(settled);
  }

  #remember({ toolInput, nativeTurnId, endedTurnId }: ServedFrame): void {
    if (toolInput) {
      const { callId, input } = toolInput;
      this.#toolInputs.set(callId, { input, ...(nativeTurnId ? { nativeTurnId } : {}) });
    }
    if (endedTurnId === undefined) return;
    for (const [callId, known] of this.#toolInputs) {
      if (known.nativeTurnId === endedTurnId) this.#toolInputs.delete(callId);
    }
  }

  #ask({ id, method, params, reply }: JsonRpcRequest): void {
    const asked = this.#way.protocol.readRequest({
      id,
      method,
      params,
      toolInput: (callId) => this.#toolInputs.get(callId)?.input,
    });
    if (!asked) {
      reply(undefined);
      return;
    }
    const { nativeSessionId } = asked;
    // A session that nobody here ever opened (a sub-agent's) would wait for ever.
    if (nativeSessionId === undefined || !this.#known.has(nativeSessionId)) {
      reply(asked.answer({ decision: 'deny' }));
      return;
    }
    const request = { ...asked, reply };
    this.#pending.set(id, request);
    for (const listener of this.#listenersOf(nativeSessionId)) listener.onRequest(request);
  }

  #listenersOf(nativeSessionId: string | undefined): readonly SessionListener[] {
    return nativeSessionId === undefined ? [] : [...(this.#listeners.get(nativeSessionId) ?? [])];
  }
}
