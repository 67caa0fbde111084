import { TimedOutError } from '../errors/turn-error.js';
import { type Clock, systemClock } from './clock.js';

export interface WaitOptions {
  /** What is awaited, in a few words: it stands in the error. */
  readonly awaiting: string;
  readonly deadlineMs: number;
  /** How long to pause between two probes; 20 ms when absent. */
  readonly intervalMs?: number;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock;
  /** Which layer waits, for the error; `provider-core` when absent. */
  readonly layer?: string;
}

/** Probes until it gets something else than `undefined` or `false`; a missed deadline is a {@link TimedOutError}. */
export async function waitUntil<Value>(
  probe: () => Promise<Value | undefined | false> | Value | undefined | false,
  { awaiting, deadlineMs, intervalMs = 20, signal, clock = systemClock, layer }: WaitOptions,
): Promise<Value> {
  const end = clock.monotonicMs() + deadlineMs;
  for (;;) {
    signal?.throwIfAborted();
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    if (clock.monotonicMs() >= end) {
      throw new TimedOutError({ awaiting, limitMs: deadlineMs, layer: layer ?? 'provider-core' });
    }
    await clock.sleep(intervalMs, signal);
  }
}
