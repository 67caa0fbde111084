import type { StoreKey } from './store.js';

const MAX_SEGMENTS = 12;
const SEGMENT = /^[A-Za-z0-9._~-]{1,250}$/;
/** What `list` hides: a temporary file, and what was set aside. */
const HIDDEN = /^\..*\.[0-9a-f]{16}\.tmp$|\.damaged-\d+$/;

/** Throws a TypeError that names the segment where a key is none: nothing outside the store can be named. */
export function checkKey(key: StoreKey): void {
  if (key.length === 0) throw new TypeError('A store key has at least one segment.');
  checkPrefix(key);
}

/** The same for the beginning of a key, which may be empty. */
export function checkPrefix(prefix: StoreKey): void {
  if (prefix.length > MAX_SEGMENTS) {
    throw new TypeError(`A store key has at most ${MAX_SEGMENTS} segments, not ${prefix.length}.`);
  }
  prefix.forEach(checkSegment);
}

function checkSegment(segment: unknown): void {
  if (typeof segment === 'string' && SEGMENT.test(segment) && !/^\.+$/.test(segment)) {
    if (!isHiddenName(segment)) return;
    throw new TypeError(`${JSON.stringify(segment)} is a name the store gives; use another one.`);
  }
  const shown = JSON.stringify(segment)?.slice(0, 300);
  throw new TypeError(`${shown} is no key segment; use 1 to 250 of A-Z a-z 0-9 . _ ~ -`);
}

/** Whether a name stands for nothing a key can name. */
export function isHiddenName(name: string): boolean {
  return HIDDEN.test(name);
}
