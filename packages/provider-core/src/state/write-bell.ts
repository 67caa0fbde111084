import type { FileChanges } from './follow-json-lines.js';

/** Wakes those who follow a file that this very process writes: they need no word from the system. */
export class WriteBell {
  readonly #waiting = new Set<() => void>();
  #rung = 0;

  /** Something was written. */
  ring(): void {
    this.#rung += 1;
    for (const wake of [...this.#waiting]) wake();
  }

  /** What one follower hears. */
  listen(): FileChanges {
    let heard = this.#rung;
    return {
      arm: () => {
        heard = this.#rung;
      },
      nextChange: (signal) =>
        this.#rung === heard && !signal.aborted ? this.#nextRing(signal) : Promise.resolve(),
      [Symbol.dispose]: () => {},
    };
  }

  #nextRing(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}
