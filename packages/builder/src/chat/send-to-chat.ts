import { UncertainDeliveryError } from '@holdfast/agent';
import type { SessionDelivery, SessionMessage } from '../executions/session-turns.js';
import type { ChatContext } from './chat-context.js';
import type { PostedMessage } from './chat-delivery.js';
import { deskOf } from './chat-desk.js';
import { UnknownChatError } from './chat-error.js';
import { readChatView } from './chat-log.js';
import { sendIntoChat } from './chat-turn.js';
import { type ChatView, hasTurn } from './chat-view.js';
import { steerRunningTurn } from './steer-running-turn.js';

/**
 * Sends one message of ours into a chat's session, as a turn of its own or, where it may, into the one that runs here. The same id
 * and text again send nothing twice; where nobody knows whether it came in, it is `uncertain_delivery` each time.
 */
export async function sendToChat(
  context: ChatContext,
  chatId: string,
  { turnId, text, whenBusy, signal }: Omit<SessionMessage, 'owner'>,
): Promise<SessionDelivery> {
  signal.throwIfAborted();
  const posted: PostedMessage = { chatId, messageId: turnId, message: text };
  const { store } = context;
  const view = deskOf(store, chatId).running?.log.view() ?? (await readChatView(store, chatId));
  if (!view) throw new UnknownChatError(chatId);
  const before = findSteered(view, posted);
  if (before) return before;
  // What had a turn of its own may have come in with it.
  if (whenBusy === 'steer' && !hasTurn(view, turnId)) {
    const steered = await deskOf(store, chatId).inOrder(() => steerRunningTurn(context, posted));
    if (steered?.status === 'uncertain') throw uncertain(steered.detail);
    if (steered) return { state: 'steered' };
  }
  const options = { turnId, signal, whenBusy: 'wait', onInterrupted: 'resume' } as const;
  return { state: 'turn_completed', result: await sendIntoChat(context, chatId, text, options) };
}

/** What was put into a running turn before, under the same id. */
function findSteered(view: ChatView, { messageId }: PostedMessage): SessionDelivery | undefined {
  const steered = view.deliveries.find(
    (one) => one.messageId === messageId && one.status === 'steered',
  );
  if (!steered || steered.outcome === 'failed') return undefined;
  if (steered.outcome === 'confirmed') return { state: 'steered' };
  throw uncertain('it was put into a running turn, and nothing says what became of it');
}

function uncertain(what: string): UncertainDeliveryError {
  return new UncertainDeliveryError({
    what,
    journal: 'steered',
    record: 'unknown',
    process: 'unknown',
  });
}
