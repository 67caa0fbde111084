import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { type Clock, type FoundProcess, listProcessTree, spawnPiped } from '@holdfast/agent';
import { encodeFrame } from './frame-reader.js';
import { endWorkerProcesses, MARKER_VARIABLE } from './worker-marker.js';
import { encodeCommand, type WorkerCommand } from './worker-protocol.wire.js';

/** What is kept of a worker's own complaints, to tell the name of the last error of it. */
const MAX_STDERR_BYTES = 64 * 1024;

/** How a worker is started. */
export interface StartWorker {
  readonly file: string;
  readonly adapterId: string;
  readonly env: Readonly<Record<string, string>>;
  readonly mark: string;
  readonly clock: Clock;
}

/** A worker's process and everything below it. */
export class StartedWorker {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #mark: string;
  readonly #clock: Clock;
  readonly #leader: FoundProcess | undefined;
  readonly #seen = new Map<string, FoundProcess>();
  #stderr = Buffer.alloc(0);
  #stderrBytes = 0;
  #exit: string | undefined;
  /** Resolves when the process itself is gone. */
  readonly exited: Promise<void>;

  constructor(child: ChildProcessWithoutNullStreams, { mark, clock }: StartWorker) {
    this.#child = child;
    this.#mark = mark;
    this.#clock = clock;
    this.#leader = listProcessTree(child.pid ?? 0)[0];
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#exit = signal ?? `code ${code}`;
        resolve();
      });
    });
    // A worker that is gone takes no more commands; its end says why.
    child.stdin.on('error', () => {});
    child.stdout.on('error', () => {});
    child.stderr.on('error', () => {});
    child.stderr.on('data', (bytes: Buffer) => this.#keepComplaint(bytes));
  }

  /** What it says. */
  get output(): AsyncIterable<Buffer> {
    return this.#child.stdout;
  }

  /** How it exited and which error it complained of, without a word of the error itself. */
  describeExit(): string {
    const named = /^(?:Uncaught )?(\w*Error)(?: \[(\w+)\])?/m.exec(this.#stderr.toString('latin1'));
    const error = named ? `, ${[named[1], named[2]].filter(Boolean).join(' ')}` : '';
    return `${this.#exit ?? 'still there'}${error}, ${this.#stderrBytes} bytes of complaint`;
  }

  /** Tells it something; nothing happens when it is gone. */
  tell(command: WorkerCommand): void {
    if (this.#child.stdin.writable) this.#child.stdin.write(encodeFrame(encodeCommand(command)));
  }

  /** Says that nothing more will be told. */
  endInput(): void {
    this.#child.stdin.end();
  }

  /** Remembers what runs below it, so that it is found even if it leaves everything that it is found by. */
  look(): void {
    if (!this.#leader || this.#exit !== undefined) return;
    for (const each of listProcessTree(this.#leader.pid)) {
      this.#seen.set(`${each.pid}.${each.startTime}`, each);
    }
  }

  /** Ends it and everything that it started; gives the pids of what could not be ended. */
  async end(graceMs: number): Promise<readonly number[]> {
    this.look();
    const worker = { mark: this.#mark, leader: this.#leader };
    const seen = [...this.#seen.values()];
    return await endWorkerProcesses(worker, { graceMs, clock: this.#clock, seen });
  }

  /** Lets go of its pipes. */
  release(): void {
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      stream.destroy();
    }
    this.#child.unref();
  }

  #keepComplaint(bytes: Buffer): void {
    this.#stderrBytes += bytes.length;
    this.#stderr = Buffer.concat([this.#stderr, bytes]).subarray(-MAX_STDERR_BYTES);
  }
}

/** Starts a worker; what it is to do is told on its standard input alone. */
export async function startWorker(start: StartWorker): Promise<StartedWorker> {
  const child = await spawnPiped({
    file: process.execPath,
    args: [start.file, 'serve', start.adapterId],
    env: { ...start.env, [MARKER_VARIABLE]: start.mark },
    workingDir: '/',
  });
  return new StartedWorker(child, start);
}
