import { FrameReader } from './frame-reader.js';
import { decodeCommand, type WorkerCommand } from './worker-protocol.wire.js';

/**
 * What the runner says, read by one task alone: a cancel only signals, so that no half frame is ever lost to it. That the
 * runner ends or says what it may not is a cancel too.
 */
export class CommandInbox {
  readonly #cancelled = new AbortController();
  readonly #waiting: WorkerCommand[] = [];
  #wake: () => void = () => {};

  constructor(input: AsyncIterable<Uint8Array>) {
    this.#read(input).then(
      () => this.cancel('the runner has ended'),
      (error: unknown) => this.cancel(error instanceof Error ? error.message : 'unreadable input'),
    );
  }

  /** Aborts with the reason of the first cancel. */
  get signal(): AbortSignal {
    return this.#cancelled.signal;
  }

  /** Why it was cancelled, for people. */
  get reason(): string {
    const { reason } = this.#cancelled.signal;
    return reason instanceof CancelReason ? reason.text : 'cancelled';
  }

  /** Cancels; only the first one counts. */
  cancel(reason: string): void {
    this.#cancelled.abort(new CancelReason(reason.slice(0, 1000)));
    this.#wake();
  }

  /** The next command other than a cancel; `undefined` once it is cancelled and all that came before was given. */
  async next(): Promise<WorkerCommand | undefined> {
    for (;;) {
      const command = this.#waiting.shift();
      if (command) return command;
      if (this.signal.aborted) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async #read(input: AsyncIterable<Uint8Array>): Promise<void> {
    const reader = new FrameReader();
    for await (const chunk of input) {
      for (const frame of reader.push(chunk)) this.#take(decodeCommand(frame));
    }
  }

  #take(command: WorkerCommand): void {
    if (command.type === 'cancel') {
      this.cancel(command.reason);
      return;
    }
    this.#waiting.push(command);
    this.#wake();
  }
}

/** Why a worker was cancelled, as the reason of its signal. */
class CancelReason extends Error {
  constructor(readonly text: string) {
    super(`The job was cancelled: ${text}.`);
    this.name = 'AbortError';
  }
}
