import { withDeadline } from '../tmux/deadline.js';
import { JsonRpcLost, JsonRpcRefusal } from './json-rpc-error.js';
import { type JsonRpcFrame, readJsonRpcFrame } from './json-rpc-frame.wire.js';

/** What carries whole texts to the other side and back. */
export interface TextChannel {
  readonly send: (text: string) => void;
  readonly onText: (listener: (text: string) => void) => void;
  /** Called once, also when it was closed already. */
  readonly onClose: (listener: () => void) => void;
  readonly close: () => void;
}

/** One call. */
export interface JsonRpcCall {
  readonly method: string;
  readonly params: unknown;
}

export interface JsonRpcLimits {
  /** 10 seconds when absent. */
  readonly deadlineMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called synchronously right before the first byte; what it throws is thrown, and nothing is sent. */
  readonly guard?: (() => void) | undefined;
}

/** What the other side says by itself. */
export interface JsonRpcListeners {
  readonly onNotification: (method: string, params: unknown) => void;
  /** A request of the other side waits until it is replied to. */
  readonly onRequest: (request: JsonRpcRequest) => void;
}

/** What the other side asks. */
export interface JsonRpcRequest {
  readonly id: number | string;
  readonly method: string;
  readonly params: unknown;
  /** Answers it; `undefined` says that the method is unknown. Does nothing once the connection is gone. */
  readonly reply: (result: unknown) => void;
}

interface PendingCall {
  readonly method: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

const DEFAULT_DEADLINE_MS = 10_000;
const METHOD_NOT_FOUND = -32601;

/** Calls and answers over one channel. When the channel dies, every call that waits is settled. */
export class JsonRpcConnection implements Disposable {
  readonly #channel: TextChannel;
  readonly #listeners: JsonRpcListeners;
  readonly #pending = new Map<number, PendingCall>();
  readonly #closeListeners = new Set<() => void>();
  #isClosed = false;
  #lastId = 0;

  constructor(channel: TextChannel, listeners: JsonRpcListeners) {
    this.#channel = channel;
    this.#listeners = listeners;
    channel.onText((text) => this.#receive(text));
    channel.onClose(() => this.#settle());
  }

  /** Calls back once when the connection is gone, for whatever reason; at once when it is gone already. */
  onClosed(listener: () => void): () => void {
    if (this.#isClosed) listener();
    else this.#closeListeners.add(listener);
    return () => this.#closeListeners.delete(listener);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Sends a call and gives its result. Rejects with `JsonRpcRefusal`, `JsonRpcLost` or the signal's reason. */
  async request(call: JsonRpcCall, limits: JsonRpcLimits = {}): Promise<unknown> {
    limits.signal?.throwIfAborted();
    if (this.#isClosed) throw new JsonRpcLost(call.method, false, 'closed');
    const id = ++this.#lastId;
    const text = JSON.stringify({ id, method: call.method, params: call.params });
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#pending.set(id, { method: call.method, resolve, reject });
    });
    // Whoever stops waiting leaves no rejection behind.
    answer.catch(() => {});
    try {
      limits.guard?.();
      this.#channel.send(text);
      return await withDeadline(answer, {
        deadlineMs: limits.deadlineMs ?? DEFAULT_DEADLINE_MS,
        signal: limits.signal,
        missed: () => new JsonRpcLost(call.method, true, 'deadline'),
      });
    } finally {
      this.#pending.delete(id);
    }
  }

  notify({ method, params }: JsonRpcCall): void {
    if (this.#isClosed) return;
    this.#channel.send(JSON.stringify(params === undefined ? { method } : { method, params }));
  }

  [Symbol.dispose](): void {
    this.#channel.close();
    this.#settle();
  }

  #receive(text: string): void {
    const frame = readJsonRpcFrame(text);
    if (!frame || this.#isClosed) return;
    if (frame.method === undefined) this.#answer(frame);
    else if (frame.id === undefined || frame.id === null) {
      this.#listeners.onNotification(frame.method, frame.params);
    } else this.#ask({ ...frame, id: frame.id, method: frame.method });
  }

  #ask({ id, method, params }: JsonRpcFrame & Pick<JsonRpcRequest, 'id' | 'method'>): void {
    const reply = (result: unknown) => this.#reply(id, result);
    this.#listeners.onRequest({ id, method, params, reply });
  }

  #answer({ id, result, error }: JsonRpcFrame): void {
    const pending = typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (!pending) return;
    if (error) {
      const { code, message, data } = error;
      pending.reject(new JsonRpcRefusal(pending.method, code, message, data));
    } else pending.resolve(result);
  }

  #reply(id: number | string, result: unknown): void {
    if (this.#isClosed) return;
    const error = { code: METHOD_NOT_FOUND, message: 'not supported by this client' };
    this.#channel.send(JSON.stringify(result === undefined ? { id, error } : { id, result }));
  }

  #settle(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { method, reject } of this.#pending.values()) {
      reject(new JsonRpcLost(method, true, 'closed'));
    }
    this.#pending.clear();
    for (const listener of this.#closeListeners) listener();
    this.#closeListeners.clear();
  }
}
