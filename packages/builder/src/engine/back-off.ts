const FIRST_MS = 1_000;
const LONGEST_MS = 300_000;

/** How long to wait after the n-th failed attempt: 1 s, 2 s, 4 s … 5 min. */
export function backOffMs(attempt: number): number {
  return Math.min(FIRST_MS * 2 ** Math.max(0, attempt - 1), LONGEST_MS);
}
