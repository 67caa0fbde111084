import { systemClock } from '../../time/clock.js';

/** How long one tmux command may take, and what ends it early. */
export interface CommandLimits {
  /** 5 seconds when absent. */
  readonly deadlineMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const DEFAULT_COMMAND_DEADLINE_MS = 5_000;

interface DeadlineOptions extends CommandLimits {
  readonly missed: () => Error;
}

/** The outcome of `work`, or the error of `missed` at the deadline, or the signal's reason. */
export async function withDeadline<Value>(
  work: Promise<Value>,
  { deadlineMs = DEFAULT_COMMAND_DEADLINE_MS, signal, missed }: DeadlineOptions,
): Promise<Value> {
  const settled = new AbortController();
  const signals = signal ? [settled.signal, signal] : [settled.signal];
  const expiry = systemClock.sleep(deadlineMs, AbortSignal.any(signals)).then(() => {
    throw missed();
  });
  try {
    return await Promise.race([work, expiry]);
  } finally {
    settled.abort();
  }
}
