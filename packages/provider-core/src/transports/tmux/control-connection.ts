import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import { createControlReader, type TmuxReply } from './control-protocol.js';
import { type CommandLimits, withDeadline } from './deadline.js';
import { TmuxError } from './tmux-error.js';

/** The connection ended while a command was under way; whether it ran is not known. */
export class ConnectionLostError extends Error {
  constructor(readonly detail: string) {
    super(`The tmux control connection ended: ${detail || 'no reason given'}.`);
    this.name = 'ConnectionLostError';
  }
}

interface PendingCommand {
  readonly sentinel: string;
  readonly lines: string[];
  error: string | undefined;
  readonly resolve: (reply: TmuxReply) => void;
  readonly reject: (error: Error) => void;
}

interface ConnectionOptions {
  readonly child: ChildProcessWithoutNullStreams;
  readonly onNotification: (line: string) => void;
}

/**
 * One attached control-mode client. Commands are answered in order; each is followed by a sentinel, since the number of
 * answer blocks of a command that holds other commands is not known beforehand.
 */
export class ControlConnection {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #name = randomBytes(6).toString('hex');
  readonly #pending: PendingCommand[] = [];
  readonly #closed: Promise<void>;
  readonly #attached: Promise<void>;
  #settleAttach: (refusal?: string) => void = () => undefined;
  #sent = 0;
  #isOpen = true;
  #complaint = '';

  constructor({ child, onNotification }: ConnectionOptions) {
    this.#child = child;
    this.#attached = new Promise((resolve, reject) => {
      this.#settleAttach = (refusal) => {
        if (refusal === undefined) resolve();
        else reject(new ConnectionLostError(refusal));
      };
    });
    this.#attached.catch(() => undefined);
    const read = createControlReader({
      onStarted: ({ error }) => this.#settleAttach(error),
      onBlock: (block) => this.#receive(block),
      onNotification: (line) => {
        // Detached: what is sent from here on would go nowhere.
        if (line.startsWith('%exit')) this.#isOpen = false;
        onNotification(line);
      },
    });
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.#complain(text));
    // A write to a client that just ended fails here first; the close below says the rest.
    child.stdin.on('error', () => undefined);
    child.on('error', (error) => this.#complain(error.message));
    this.#closed = new Promise((resolve) => {
      child.on('close', () => {
        this.#fail();
        // A client that was killed says nothing; who watches panes must look again all the same.
        onNotification('%exit');
        resolve();
      });
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Runs the first command lines, and waits until this client is attached: one that is refused may have its input answered
   * all the same, and ends then.
   */
  async open(script: string, limits: CommandLimits = {}): Promise<TmuxReply> {
    const reply = await this.run(script, limits);
    await withDeadline(this.#attached, { ...limits, missed: () => this.#giveUp() });
    return reply;
  }

  /** Runs command lines and collects what they print; an error ends the reply, not the connection. */
  async run(script: string, limits: CommandLimits = {}): Promise<TmuxReply> {
    limits.signal?.throwIfAborted();
    if (!this.#isOpen) throw new ConnectionLostError(this.#complaint);
    return withDeadline(this.#send(script), { ...limits, missed: () => this.#giveUp() });
  }

  /** Whether this client keeps our process from ending by itself. */
  keepProcessAlive(keeps: boolean): void {
    const act = keeps ? 'ref' : 'unref';
    this.#child[act]();
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      if (stream instanceof Socket) stream[act]();
    }
  }

  /** Ends this client only; the server and every pane stay. */
  close(): Promise<void> {
    this.#isOpen = false;
    this.#child.stdin.end();
    this.#child.kill('SIGKILL');
    // The server holds copies of these pipes: a stopped one would keep them open for as long as it is stopped.
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
    return this.#closed;
  }

  /** Ended, so that nothing queues up behind it; what tmux has been sent may still run. */
  #giveUp(): TmuxError {
    void this.close();
    return new TmuxError('unresponsive', 'The tmux server did not answer in time.', {
      mayHaveRun: true,
    });
  }

  #send(script: string): Promise<TmuxReply> {
    this.#sent += 1;
    const sentinel = `holdfast-${this.#name}-${this.#sent}`;
    return new Promise((resolve, reject) => {
      this.#pending.push({ sentinel, lines: [], error: undefined, resolve, reject });
      this.#child.stdin.write(`${script}\ndisplay-message -p ${sentinel}\n`);
    });
  }

  #receive(block: TmuxReply): void {
    const current = this.#pending[0];
    if (!current) return;
    if (block.lines.length === 1 && block.lines[0] === current.sentinel) {
      this.#pending.shift();
      const { lines, error } = current;
      current.resolve(error === undefined ? { lines } : { lines, error });
      return;
    }
    current.lines.push(...block.lines);
    current.error ??= block.error;
  }

  #complain(text: string): void {
    this.#complaint = (this.#complaint + text).slice(-500);
  }

  #fail(): void {
    this.#isOpen = false;
    this.#settleAttach(this.#complaint.trim());
    for (const { reject } of this.#pending.splice(0)) {
      reject(new ConnectionLostError(this.#complaint.trim()));
    }
  }
}
