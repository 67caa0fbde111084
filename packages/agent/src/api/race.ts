import type { Clock } from '@holdfast/provider-core';

/** How long to wait, and what ends the wait before. */
export interface RaceOptions {
  readonly limitMs: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/**
 * Waits for `work`, at most so long. Throws the signal's reason as soon as it aborts, whatever the work does about it;
 * at the limit it gives `expired`, and what the work comes to later is dropped.
 */
export async function raceDeadline<Value, Expired>(
  work: Promise<Value>,
  expired: Expired,
  { limitMs, signal, clock }: RaceOptions,
): Promise<Value | Expired> {
  const over = new AbortController();
  const timer = clock.sleep(limitMs, AbortSignal.any([signal, over.signal])).then(() => expired);
  // Whichever loses is nobody's to await.
  timer.catch(() => {});
  work.catch(() => {});
  try {
    return await Promise.race([work, timer]);
  } finally {
    over.abort();
  }
}
