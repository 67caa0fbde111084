import { composeTurn, digestMessage, type Message, TurnConflictError } from '@holdfast/agent';
import type { ChatContext } from './chat-context.js';
import type { ChatLog } from './chat-log.js';
import type { ChatTurnResult } from './chat-turn-result.js';
import type { ChatTurnRecord, ChatView } from './chat-view.js';
import { runChatTurn } from './run-chat-turn.js';

/** The turn that was made for this id before. Made for another message, it is a conflict. */
export function findKnownTurn(
  view: ChatView,
  turnId: string,
  message: Message,
): ChatTurnRecord | undefined {
  const known = view.turns.find((one) => one.turnId === turnId);
  if (known && digestMessage('user', known.message) !== digestMessage('user', message)) {
    throw new TurnConflictError(turnId);
  }
  return known;
}

/** Goes on with a turn a crash left open: the same id, the stored message. Its failure is in the log, typed. */
export async function settleOpenTurn(
  context: ChatContext,
  log: ChatLog,
  { turnId, message }: ChatTurnRecord,
): Promise<void> {
  const turn = composeTurn<ChatTurnResult>({
    turnId,
    body: (stage) =>
      runChatTurn(context, { log, stage, turnId, message, options: { onInterrupted: 'resume' } }),
  });
  await turn.catch((error: unknown) => {
    const view = log.view();
    const settled = view?.turns.find((one) => one.turnId === turnId);
    // What is not in the log was not settled: nobody may go on behind it.
    if (settled?.state !== 'failed') throw error;
  });
}
