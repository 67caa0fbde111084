import type { TurnEvent } from '../spec/turn-event.js';

/** Reads one line of a turn's events, which are kept as they are emitted; absent when it is none. */
export function decodeTurnEvent(value: unknown): TurnEvent | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!('type' in value) || typeof value.type !== 'string') return undefined;
  if (!('sequence' in value) || typeof value.sequence !== 'number') return undefined;
  // Written by this package; a type that only a newer version knows goes through to whoever reads.
  return value as TurnEvent;
}
