import type { Clock } from '@holdfast/agent';
import { expect, vi } from 'vitest';

interface Sleeper {
  readonly endsAt: number;
  readonly wake: () => void;
}

/** Time that a test moves: the monotonic clock goes on, the wall clock may be set. */
export class ManualClock implements Clock {
  wall = Date.parse('2026-01-02T03:04:05.000Z');
  #passed = 0;
  readonly #sleepers = new Set<Sleeper>();

  readonly now = () => this.wall;
  readonly monotonicMs = () => this.#passed;

  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    if (ms <= 0) return new Promise((resolve) => setImmediate(resolve));
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        this.#sleepers.delete(sleeper);
        settle();
      };
      const sleeper = { endsAt: this.#passed + ms, wake: () => end(resolve) };
      if (signal?.aborted) return reject(signal.reason);
      signal?.addEventListener('abort', () => end(() => reject(signal.reason)), { once: true });
      this.#sleepers.add(sleeper);
    });
  };

  /** Lets time pass, once those who wait for it have lain down. */
  async pass(ms: number): Promise<void> {
    await vi.waitFor(() => expect(this.#sleepers.size).toBeGreaterThan(0), { timeout: 20_000 });
    this.wall += ms;
    this.#passed += ms;
    for (const sleeper of [...this.#sleepers]) if (sleeper.endsAt <= this.#passed) sleeper.wake();
  }

  /** Lets time pass step by step until something is so. Gives how long that took. */
  async passUntil(stepMs: number, isSo: () => boolean | Promise<boolean>): Promise<number> {
    const from = this.#passed;
    for (let step = 0; step < 10_000; step += 1) {
      if (await isSo()) return this.#passed - from;
      await this.pass(stepMs);
    }
    throw new TypeError('it never came');
  }
}
