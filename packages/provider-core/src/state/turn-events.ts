import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { TurnEvent } from '../spec/turn-event.js';
import type { Clock } from '../time/clock.js';
import { type FileChanges, followJsonLines } from './follow-json-lines.js';
import { endsTorn, readJsonLines } from './json-lines.js';
import { ensurePrivateDirNow } from './private-dir.js';
import { writeError } from './state-error.js';
import { decodeTurnEvent } from './turn-events.wire.js';

/**
 * Adds an event to the turn's file. It is written when the call returns, in the order of the calls,
 * and is not synced: events tell, the journal decides.
 */
export async function appendTurnEvent(path: string, event: TurnEvent): Promise<void> {
  try {
    ensurePrivateDirNow(dirname(path));
    const file = openSync(path, 'a+', 0o600);
    try {
      writeSync(
        file,
        `${endsTorn(file, fstatSync(file).size) ? '\n' : ''}${JSON.stringify(event)}\n`,
      );
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw writeError(path, error);
  }
}

/** The turn's events from a sequence on, as far as they are written. */
export async function readTurnEvents(path: string, from: number): Promise<TurnEvent[]> {
  const read = await readJsonLines(path);
  if (read === 'absent') return [];
  return read.lines
    .flatMap(({ value }) => decodeTurnEvent(value) ?? [])
    .filter(({ sequence }) => sequence >= from);
}

/** Where to begin, and when to stop. */
export interface FollowTurnEventsOptions {
  readonly from: number;
  readonly signal: AbortSignal;
  readonly clock?: Clock | undefined;
  /** Given by whoever writes the events in this process. */
  readonly changes?: FileChanges | undefined;
}

/** The turn's events from a sequence on, then each new one, until the signal aborts. Reads at the reader's pace. */
export async function* followTurnEvents(
  path: string,
  { from, signal, clock, changes }: FollowTurnEventsOptions,
): AsyncGenerator<TurnEvent, void, undefined> {
  for await (const line of followJsonLines(path, { signal, clock, changes })) {
    const event = line.replaced ? undefined : decodeTurnEvent(line.value);
    if (event && event.sequence >= from) yield event;
  }
}
