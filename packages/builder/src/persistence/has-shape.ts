/** Says whether a value of parsed JSON is what is wanted; never throws. */
export type Check = (value: unknown) => boolean;

/**
 * Whether a value is an object of which each named key passes its check. For who looks through many records: where it says no,
 * a codec has the last word. Keys without a check are not looked at.
 */
export function hasShape(value: unknown, checks: readonly (readonly [string, Check])[]): boolean {
  if (!isObject(value)) return false;
  for (const one of checks) if (!one[1](value[one[0]])) return false;
  return true;
}

/** An object of parsed JSON: neither a list nor null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text that says something: codecs take a blank one for absent. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** A number that JSON can hold. */
export function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

/** Not there, or what the check wants. `null` is neither. */
export function orAbsent(check: Check): Check {
  return (value) => value === undefined || check(value);
}

/** One of some words. */
export function oneOf(...words: readonly string[]): Check {
  return (value) => typeof value === 'string' && words.includes(value);
}
