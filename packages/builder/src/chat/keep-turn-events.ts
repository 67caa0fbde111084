import type { AgentTurn, AgentTurnEvent } from '@holdfast/agent';
import { isKeptEvent, nextTurnEvent } from '../turn-events.js';
import type { ChatLog } from './chat-log.js';

/**
 * Copies what an agent's turn tells into the chat's log, as it comes. Deltas are left out, and so are final events:
 * the end stands in the log as the chat's own. An event that was kept before a crash is not kept again.
 */
export async function keepTurnEvents(log: ChatLog, turn: AgentTurn): Promise<void> {
  const kept = new Set(
    log.events.flatMap((event) => (isOf(event, turn) ? [keyOf(event.event)] : [])),
  );
  const iterator = turn.events()[Symbol.asyncIterator]();
  for (;;) {
    const event = await nextTurnEvent(iterator);
    if (!event) return;
    if (!isKeptEvent(event) || kept.has(keyOf(event))) continue;
    const sync = event.type === 'terminal_opened';
    await log.append({ type: 'turn_event', turnId: turn.turnId, event }, { sync });
  }
}

function isOf(
  event: ChatLog['events'][number],
  { turnId }: AgentTurn,
): event is Extract<ChatLog['events'][number], { readonly type: 'turn_event' }> {
  return event.type === 'turn_event' && event.turnId === turnId;
}

/** Another attempt numbers its events anew, at other instants. */
function keyOf({ sequence, at }: AgentTurnEvent): string {
  return `${sequence} ${at}`;
}
