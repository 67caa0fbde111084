import type { RecordEvent } from '../../spec/record-event.js';

/** What was told of a session's turns so far, where the record and the frames tell the same. */
export class TurnNotes {
  readonly #endedTurns = new Set<string>();
  readonly #compactions = new Set<string>();
  /** The tool calls since the last message that was taken in. */
  readonly calls = new Set<string>();
  #turnOfCalls: string | undefined;

  /** Whether the turn's end was read in the record: what still comes of it must not look like the next one's. */
  hasEnded(nativeTurnId: string | undefined): boolean {
    return nativeTurnId !== undefined && this.#endedTurns.has(nativeTurnId);
  }

  /** Notes what is told; false when it was told already. */
  take(event: RecordEvent, durable: boolean): boolean {
    if (event.type === 'tool_started') this.calls.add(event.callId);
    if (this.#isRepeated(event)) return false;
    if (durable) this.#noteRecorded(event);
    return true;
  }

  #noteRecorded(event: RecordEvent): void {
    if (event.type === 'message_accepted' && event.nativeTurnId !== this.#turnOfCalls) {
      this.#turnOfCalls = event.nativeTurnId;
      this.calls.clear();
    }
    const isEnd = event.type === 'turn_ended' || event.type === 'turn_failed';
    if (isEnd && event.nativeTurnId !== undefined) this.#endedTurns.add(event.nativeTurnId);
  }

  /** A frame tells a compaction as it happens, the record tells all of it again at its end. */
  #isRepeated(event: RecordEvent): boolean {
    const isCompaction =
      event.type === 'compaction_started' || event.type === 'compaction_finished';
    if (!isCompaction || event.compactionId === undefined) return false;
    const key = `${event.type} ${event.compactionId}`;
    const isRepeated = this.#compactions.has(key);
    this.#compactions.add(key);
    return isRepeated;
  }
}
