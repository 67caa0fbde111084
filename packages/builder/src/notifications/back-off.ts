const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 300_000;

/** How long to wait after so many tries: 1 s, 2 s, … up to 5 minutes. */
export function backOffMs(tries: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** Math.min(Math.max(tries - 1, 0), 30), LONGEST_DELAY_MS);
}

/** An instant so many milliseconds later, as ISO 8601. */
export function instantAfter(nowMs: number, delayMs: number): string {
  return new Date(nowMs + delayMs).toISOString();
}
