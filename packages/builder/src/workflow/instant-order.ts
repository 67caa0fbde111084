/** An instant as RFC 3339 writes it; Go writes up to nine digits of a second and leaves out trailing zeros. */
const INSTANT = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d+))?(Z|[+-]\d{2}:\d{2})$/i;

/**
 * Orders two RFC 3339 instants, earlier first. Whatever is finer than a second is compared as text, since a number of
 * milliseconds would lose it. What is no instant comes before everything else.
 */
export function compareInstants(left: string, right: string): number {
  if (left === right) return 0;
  const [a, b] = [readInstant(left), readInstant(right)];
  if (a.seconds !== b.seconds) return a.seconds < b.seconds ? -1 : 1;
  const digits = Math.max(a.fraction.length, b.fraction.length);
  const [x, y] = [a.fraction.padEnd(digits, '0'), b.fraction.padEnd(digits, '0')];
  if (x === y) return 0;
  return x < y ? -1 : 1;
}

/** The earliest of some instants; `undefined` of none. */
export function findEarliest(instants: readonly string[]): string | undefined {
  return instants.toSorted(compareInstants)[0];
}

/** The latest of some instants; `undefined` of none. */
export function findLatest(instants: readonly string[]): string | undefined {
  return instants.toSorted(compareInstants).at(-1);
}

function readInstant(text: string): { readonly seconds: number; readonly fraction: string } {
  const [, seconds, fraction = '', zone] = INSTANT.exec(text.trim()) ?? [];
  const parsed = Date.parse(`${seconds}${zone}`);
  return Number.isNaN(parsed)
    ? { seconds: Number.NEGATIVE_INFINITY, fraction: '' }
    : { seconds: parsed, fraction };
}
