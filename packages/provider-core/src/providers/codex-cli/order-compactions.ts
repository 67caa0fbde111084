import type { RecordEvent } from '../../spec/record-event.js';

/**
 * Codex compacts before it writes down the message that made it necessary. A compaction is a phase of that message's turn,
 * so it is told behind it; a turn without a message tells it at its end.
 */
export function orderCompactions(): (events: readonly RecordEvent[]) => readonly RecordEvent[] {
  let isInTurn = false;
  let held: RecordEvent[] = [];
  return (events) => events.flatMap(order);

  function order(event: RecordEvent): readonly RecordEvent[] {
    switch (event.type) {
      case 'compaction_started':
      case 'compaction_finished':
        if (isInTurn) return [event];
        held.push(event);
        return [];
      case 'message_accepted':
        isInTurn = true;
        return [event, ...release()];
      case 'turn_ended':
      case 'turn_failed':
      case 'turn_interrupted':
        isInTurn = false;
        return [...release(), event];
      default:
        return [event];
    }
  }

  function release(): readonly RecordEvent[] {
    const released = held;
    held = [];
    return released;
  }
}
