/** The only door to real time; tests hand in their own. */
export interface Clock {
  /** Wall-clock time in milliseconds since 1970, for records people read. Decides nothing. */
  readonly now: () => number;
  /** Monotonic milliseconds, for deadlines and durations. */
  readonly monotonicMs: () => number;
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** Real time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
};

/** The instant as ISO 8601 in UTC, for the `at` fields on disk. */
export function isoInstant(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}
