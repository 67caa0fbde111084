import type { ChatEvent } from './chat-event.js';
import type { ChatLog } from './chat-log.js';

type Confirmation = Extract<ChatEvent, { readonly type: 'message_confirmed' }>;

/** Tells in the log what became of a posted message; said once already, it is not said again. */
export async function confirmMessage(
  log: ChatLog,
  { messageId, turnId, outcome }: Pick<Confirmation, 'messageId' | 'turnId' | 'outcome'>,
): Promise<void> {
  const isKnown = log.events.some(
    (event) =>
      event.type === 'message_confirmed' &&
      event.messageId === messageId &&
      event.turnId === turnId &&
      event.outcome === outcome,
  );
  if (!isKnown) await log.append({ type: 'message_confirmed', messageId, turnId, outcome });
}

/** A crash came between putting a message into a turn and the word of what became of it: nobody knows, and it goes no second way. */
export async function confirmLostSteers(log: ChatLog): Promise<void> {
  for (const { status, outcome, messageId, turnId } of log.view()?.deliveries ?? []) {
    if (status !== 'steered' || outcome !== undefined) continue;
    await confirmMessage(log, { messageId, turnId, outcome: 'uncertain' });
  }
}
