import { randomBytes } from 'node:crypto';
import { waitUntil } from '../../time/wait-until.js';
import { ConnectionLostError, ControlConnection } from './control-connection.js';
import type { TmuxReply } from './control-protocol.js';
import type { CommandLimits } from './deadline.js';

import { createRevokeScript } from './pane-scripts.js';
import { findServerProcess } from './server-process.js';
import { findSocketState } from './socket-state.js';
import {
  checkVersionIsSupported,
  createTmuxClient,
  NEW_KEEPER_SCRIPT,
  type TmuxClient,
  type TmuxClientOptions,
} from './tmux-client.js';
import { isTmuxError, TmuxError } from './tmux-error.js';

interface ChannelOptions {
  readonly client: TmuxClientOptions;
  readonly onNotification: (line: string) => void;
}

/**
 * Runs command lines on one server: over one control connection, made anew when it ended, and by single clients where
 * none can be had. Bound to one server process: pane ids mean nothing to its successor.
 */
export class CommandChannel {
  readonly #options: ChannelOptions;
  #connecting: Promise<ControlConnection | undefined> | undefined;
  #client: TmuxClient;
  #serverPid: number | undefined;
  #writer = createWriterName();
  readonly #revoked: string[] = [];
  #isClosed = false;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.#client = createTmuxClient(options.client);
  }

  /** The process id of the server, once connected. */
  get serverPid(): number | undefined {
    return this.#serverPid;
  }

  /** Connects now, so that a server that is gone shows here. */
  async connect(limits: CommandLimits): Promise<void> {
    await this.#getConnection(limits);
  }

  /** Runs a command that may run twice: it is sent again when the connection is lost under it. */
  async read(script: string, limits: CommandLimits = {}): Promise<TmuxReply> {
    try {
      return await this.#send(script, limits);
    } catch (error) {
      if (!(error instanceof ConnectionLostError)) throw error;
    }
    try {
      return await this.#send(script, limits);
    } catch (error) {
      throw await this.#explainLoss(error);
    }
  }

  /**
   * Runs a command that must not run twice. When its outcome is not known, its writer is revoked before anything else is
   * sent: a command that is conditional on it has run by then, or never will.
   */
  async write(
    createScript: (writer: string) => string,
    limits: CommandLimits = {},
  ): Promise<TmuxReply> {
    await this.#getConnection(limits);
    try {
      return await this.#send(createScript(this.#writer), limits);
    } catch (error) {
      const failure = await this.#explainLoss(error);
      const isOpen = limits.signal?.aborted || (isTmuxError(failure) && failure.mayHaveRun);
      if (isOpen) this.#revokeWriter();
      throw failure;
    }
  }

  /** Whether the connection that is there still answers for the same server; makes none. */
  async isAlive(limits: CommandLimits): Promise<boolean> {
    const connection = await this.#connecting?.catch(() => undefined);
    if (this.#isClosed || !connection?.isOpen) return false;
    try {
      await this.#checkIdentity(await connection.run(IDENTITY_SCRIPT, limits));
      return true;
    } catch (error) {
      if (error instanceof ConnectionLostError || isTmuxError(error, 'server_gone')) return false;
      // The caller's own command has not been sent yet.
      throw isTmuxError(error) ? new TmuxError(error.code, error.message, { cause: error }) : error;
    }
  }

  /** Whether an open connection keeps this process from ending by itself. */
  async keepProcessAlive(keeps: boolean): Promise<void> {
    const connection = await this.#connecting?.catch(() => undefined);
    connection?.keepProcessAlive(keeps);
  }

  /** Ends our connection; the server stays. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const connection = await this.#connecting?.catch(() => undefined);
    await connection?.close();
  }

  async #getConnection(limits: CommandLimits): Promise<ControlConnection | undefined> {
    if (this.#isClosed) throw new TypeError('this tmux connection was disposed of');
    const current = this.#connecting;
    const known = await current?.catch(() => undefined);
    if (known?.isOpen) return known;
    // Another caller was told the same and has begun anew.
    if (this.#connecting !== current) return this.#getConnection(limits);
    limits.signal?.throwIfAborted();
    // One attempt at a time: it belongs to all who wait, so no single caller's signal ends it.
    this.#connecting = this.#attach({ deadlineMs: limits.deadlineMs });
    return this.#connecting;
  }

  async #attach(limits: CommandLimits): Promise<ControlConnection | undefined> {
    const first = await this.#tryAttach(limits);
    if (first instanceof ControlConnection) return first;

    const socket = await findSocketState(this.#options.client.socketPath, limits);
    if (socket !== 'answered') throw unreachable(socket, first);
    if (first.detail.includes('protocol version mismatch')) await this.#useServersOwnBinary();
    // Someone may have ended the keeper; a session of that name that is still there is the refusal we ignore.
    await this.#client.runScript(NEW_KEEPER_SCRIPT, limits);
    const second = await this.#tryAttach(limits);
    if (second instanceof ControlConnection) return second;

    const reply = await this.#client.runScript(IDENTITY_SCRIPT, limits);
    if (reply.error && ENDED.test(reply.error)) throw await this.#explainEnd();
    await this.#checkIdentity(reply);
    return undefined;
  }

  async #tryAttach(limits: CommandLimits): Promise<ControlConnection | ConnectionLostError> {
    const connection = new ControlConnection({
      child: this.#client.attach(),
      onNotification: this.#options.onNotification,
    });
    try {
      await this.#checkIdentity(await connection.open(IDENTITY_SCRIPT, limits));
      return connection;
    } catch (error) {
      await connection.close();
      if (error instanceof ConnectionLostError) return error;
      // The caller's own command has not been sent yet.
      throw isTmuxError(error) ? new TmuxError(error.code, error.message, { cause: error }) : error;
    }
  }

  /** tmux was upgraded under a running server. Its executable can be run through the process, even when deleted. */
  async #useServersOwnBinary(): Promise<void> {
    const server = await findServerProcess(this.#options.client.socketPath);
    if (server.state !== 'alive') return;
    const tmuxBinary = `/proc/${server.pid}/exe`;
    this.#client = createTmuxClient({ ...this.#options.client, tmuxBinary });
  }

  async #checkIdentity({ lines, error }: TmuxReply): Promise<void> {
    const [pid, version] = (lines[0] ?? '').split(' ');
    if (error !== undefined || !pid || !version) {
      throw new TmuxError('unresponsive', `The tmux server does not say who it is: ${error ?? ''}`);
    }
    checkVersionIsSupported(version);
    this.#serverPid ??= Number(pid);
    if (this.#serverPid !== Number(pid)) {
      throw new TmuxError('server_gone', 'The tmux server was replaced by another one.');
    }
  }

  async #send(script: string, limits: CommandLimits): Promise<TmuxReply> {
    const connection = await this.#getConnection(limits);
    const run = (line: string) =>
      connection ? connection.run(line, limits) : this.#client.runScript(line, limits);
    while (this.#revoked[0] !== undefined) {
      await run(createRevokeScript(this.#revoked[0]));
      this.#revoked.shift();
    }
    return run(script);
  }

  #revokeWriter(): void {
    this.#revoked.push(this.#writer);
    this.#writer = createWriterName();
  }

  /** A server that is just ending still has its socket for a moment. */
  async #explainEnd(): Promise<TmuxError> {
    const { socketPath } = this.#options.client;
    const isGone = async () => (await findSocketState(socketPath)) === 'gone';
    const awaiting = 'the tmux server to end';
    const state = await waitUntil(isGone, { awaiting, deadlineMs: 1_000, layer: 'tmux' }).then(
      () => 'gone' as const,
      () => 'unknown' as const,
    );
    return unreachable(state);
  }

  async #explainLoss(error: unknown): Promise<unknown> {
    if (!(error instanceof ConnectionLostError)) return error;
    const socket = await findSocketState(this.#options.client.socketPath);
    return socket === 'gone'
      ? new TmuxError('server_gone', 'The tmux server is gone.', { cause: error, mayHaveRun: true })
      : new TmuxError('unresponsive', error.message, { cause: error, mayHaveRun: true });
  }
}

function createWriterName(): string {
  return randomBytes(6).toString('hex');
}

/** What a client says whose server ends while it connects. */
const ENDED = /no server running|server exited|lost server/;
const IDENTITY_SCRIPT = 'display-message -p "#{pid} #{version}"';

function unreachable(socket: 'gone' | 'unknown', cause?: Error): TmuxError {
  return socket === 'gone'
    ? new TmuxError('server_gone', 'No tmux server runs on this socket.', { cause })
    : new TmuxError('unresponsive', 'The tmux server cannot be reached.', { cause });
}
