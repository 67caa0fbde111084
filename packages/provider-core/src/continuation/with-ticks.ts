import type { Clock } from '../time/clock.js';

/** What {@link withTicks} gives between items. */
export const TICK = Symbol('tick');

interface TickOptions {
  readonly intervalMs: number;
  readonly clock: Clock;
  /** Aborting it makes one tick come at once. */
  readonly wake: AbortSignal;
}

/** The items of an async iterable, with a tick whenever none came for an interval. No item is lost. */
export async function* withTicks<Item>(
  items: AsyncIterable<Item>,
  { intervalMs, clock, wake }: TickOptions,
): AsyncIterable<Item | typeof TICK> {
  const iterator = items[Symbol.asyncIterator]();
  const woken = onceAborted(wake);
  // A wake counts once: a promise that has settled would win every race after it.
  let isWakeTold = false;
  let next = iterator.next();
  try {
    for (;;) {
      const timer = new AbortController();
      const first = await Promise.race([
        next,
        tickAfter(clock, intervalMs, timer.signal),
        ...(isWakeTold ? [] : [woken]),
      ]);
      timer.abort();
      if (typeof first === 'symbol') {
        isWakeTold ||= wake.aborted;
        yield TICK;
        continue;
      }
      if (first.done) return;
      next = iterator.next();
      yield first.value;
    }
  } finally {
    // Not awaited: a source that waits for its next item would hold the caller up.
    Promise.allSettled([next, iterator.return?.()]).catch(() => {});
  }
}

function tickAfter(clock: Clock, ms: number, signal: AbortSignal): Promise<typeof TICK> {
  return clock.sleep(ms, signal).then(
    () => TICK,
    () => TICK,
  );
}

function onceAborted(signal: AbortSignal): Promise<typeof TICK> {
  if (signal.aborted) return Promise.resolve(TICK);
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(TICK), { once: true });
  });
}
