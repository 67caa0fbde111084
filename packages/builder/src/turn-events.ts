import type { AgentTurnEvent } from '@holdfast/agent';

/** Whether an event of a turn is kept. Deltas are not, nor are final events: the end stands in the log as the owner's own. */
export function isKeptEvent({ type }: AgentTurnEvent): boolean {
  return !LEFT_OUT.has(type);
}

const LEFT_OUT: ReadonlySet<string> = new Set([
  'text_delta',
  'completed',
  'failed',
  'resume_unavailable',
  'stale_handle',
]);

/** The next event; `undefined` at the end. The iteration ends by throwing the turn's own error, which whoever awaits the turn gets anyway. */
export async function nextTurnEvent(
  iterator: AsyncIterator<AgentTurnEvent>,
): Promise<AgentTurnEvent | undefined> {
  try {
    const next = await iterator.next();
    return next.done ? undefined : next.value;
  } catch {
    return undefined;
  }
}
