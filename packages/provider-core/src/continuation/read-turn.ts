import type { RecordEvent } from '../spec/record-event.js';
import type { Usage } from '../spec/turn.js';

/** What identifies our message in the provider's record. */
export interface OurMessage {
  readonly text: string;
  readonly turnId: string;
}

/** What the provider's record says of one of our messages. */
export interface TurnReading {
  readonly state: TurnReadingState;
  readonly nativeTurnId?: string | undefined;
  readonly ended?: Extract<RecordEvent, { type: 'turn_ended' }> | undefined;
  readonly failed?: Extract<RecordEvent, { type: 'turn_failed' }> | undefined;
  readonly blockedReason?: string | undefined;
  readonly usage?: Usage | undefined;
  /** Whether a tool was called for our message: it may have had its effect. */
  readonly usedTools?: boolean | undefined;
  /** Whether somebody else's message was taken in before ours, or after ours ended. */
  readonly foreign: boolean;
}

/** `no_message`: not there. `open`: taken in, not over. The rest says how it ended. */
export type TurnReadingState =
  | 'no_message'
  | 'blocked'
  | 'open'
  | 'ended'
  | 'failed'
  | 'interrupted'
  | 'abandoned';

export const EMPTY_READING: TurnReading = { state: 'no_message', foreign: false };

/** Reads a record's events, in order, for one message. Pure. */
export function readTurn(events: readonly RecordEvent[], ours: OurMessage): TurnReading {
  return events.reduce((reading, event) => readTurnEvent(reading, event, ours), EMPTY_READING);
}

/** Takes one more event into a reading. */
export function readTurnEvent(
  reading: TurnReading,
  event: RecordEvent,
  ours: OurMessage,
): TurnReading {
  switch (event.type) {
    case 'message_accepted':
      return readAccepted(reading, event, ours);
    case 'message_blocked':
      return reading.state === 'no_message' && event.text === ours.text
        ? { ...reading, state: 'blocked', blockedReason: event.reason }
        : reading;
    case 'turn_ended':
      // The end of a turn nobody asked for is never the end of ours.
      if (event.origin === 'background') return reading;
      return isOurs(reading, event) ? { ...reading, state: 'ended', ended: event } : reading;
    case 'turn_failed':
      return isOurs(reading, event) ? { ...reading, state: 'failed', failed: event } : reading;
    case 'turn_interrupted':
      return isOurs(reading, event) ? { ...reading, state: 'interrupted' } : reading;
    case 'tool_started':
      return reading.state === 'open' ? { ...reading, usedTools: true } : reading;
    case 'branch_abandoned':
      return reading.state === 'no_message' ? reading : { ...reading, state: 'abandoned' };
    default:
      return reading;
  }
}

function readAccepted(
  reading: TurnReading,
  event: Extract<RecordEvent, { type: 'message_accepted' }>,
  ours: OurMessage,
): TurnReading {
  const isOurMessage =
    event.clientMessageId === undefined
      ? event.origin === 'user' && event.text === ours.text
      : event.clientMessageId === ours.turnId;
  // A message blocked once and taken in later (after a repaired draft) counts as taken in; so does one that the CLI
  // itself takes in again, on a new branch, to finish a turn that a crash cut off.
  const isWaiting = ['no_message', 'blocked', 'abandoned'].includes(reading.state);
  if (isOurMessage && isWaiting) {
    return { ...reading, state: 'open', nativeTurnId: event.nativeTurnId };
  }
  return { ...reading, foreign: true };
}

/** An end counts only for a turn of ours that is open, and only when the provider's turn ids agree. */
function isOurs(
  reading: TurnReading,
  event: { readonly nativeTurnId?: string | undefined },
): boolean {
  const idsDiffer =
    reading.nativeTurnId !== undefined &&
    event.nativeTurnId !== undefined &&
    reading.nativeTurnId !== event.nativeTurnId;
  return !idsDiffer && (reading.state === 'open' || reading.state === 'interrupted');
}
