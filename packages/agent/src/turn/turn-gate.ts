import { SessionBusyError } from '@holdfast/provider-core';
import { createDeferred } from './deferred.js';

interface PassOptions {
  readonly whenBusy?: 'fail' | 'wait' | undefined;
  readonly signal: AbortSignal;
}

/** Lets one turn of this agent through at a time, in the order they came. */
export class TurnGate {
  #waiting = 0;
  #tail: Promise<unknown> = Promise.resolve();

  get isBusy(): boolean {
    return this.#waiting > 0;
  }

  /** Runs `body` alone; while another one runs it waits, or fails with `session_busy`. Claims at once. */
  async pass<Value>(
    { whenBusy = 'fail', signal }: PassOptions,
    body: () => Promise<Value>,
  ): Promise<Value> {
    if (this.isBusy && whenBusy === 'fail') {
      throw new SessionBusyError({ kind: 'ours', pid: process.pid });
    }
    const before = this.#tail;
    const over = createDeferred<void>();
    this.#tail = before.then(() => over.promise);
    this.#waiting += 1;
    try {
      await waitOrAbort(before, signal);
      return await body();
    } finally {
      this.#waiting -= 1;
      over.resolve();
    }
  }
}

async function waitOrAbort(turn: Promise<unknown>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const aborted = createDeferred<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([turn, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
