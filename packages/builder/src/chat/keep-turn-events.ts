import type { AgentTurn, AgentTurnEvent } from '@holdfast/agent';
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
    const event = await nextEvent(iterator);
    if (!event) return;
    if (LEFT_OUT.has(event.type) || kept.has(keyOf(event))) continue;
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

/** The iteration ends by throwing the turn's own error, which whoever awaits the turn gets anyway. */
async function nextEvent(
  iterator: AsyncIterator<AgentTurnEvent>,
): Promise<AgentTurnEvent | undefined> {
  try {
    const next = await iterator.next();
    return next.done ? undefined : next.value;
  } catch {
    return undefined;
  }
}

const LEFT_OUT: ReadonlySet<string> = new Set([
  'text_delta',
  'completed',
  'failed',
  'resume_unavailable',
  'stale_handle',
]);
