import type { AgentSteerResult, Message } from '@holdfast/agent';
import type { ChatContext } from './chat-context.js';
import type { ChatDelivery, PostedMessage } from './chat-delivery.js';
import { deskOf, type RunningTurn } from './chat-desk.js';
import { confirmMessage } from './confirm-message.js';

/**
 * Puts a message into the turn that this process runs in the chat. `undefined` where none runs here, or it surely took nothing in:
 * then the message may go another way. What is not known for sure is `uncertain` and goes none.
 */
export async function steerRunningTurn(
  { store }: Pick<ChatContext, 'store'>,
  posted: PostedMessage,
): Promise<ChatDelivery | undefined> {
  const desk = deskOf(store, posted.chatId);
  const { running } = desk;
  const text = textToSteer(posted.message);
  if (!running || text === undefined) return undefined;
  const steering = steer(running, posted, text);
  desk.steering.add(steering);
  try {
    return await steering;
  } finally {
    desk.steering.delete(steering);
  }
}

/** A running turn takes text alone. */
function textToSteer(message: Message): string | undefined {
  if (typeof message === 'string') return message;
  const [part, ...rest] = message;
  return part?.type === 'text' && rest.length === 0 ? part.text : undefined;
}

async function steer(
  running: RunningTurn,
  { messageId, message }: PostedMessage,
  text: string,
): Promise<ChatDelivery | undefined> {
  const { log, turnId } = running;
  // Before it leaves: after a crash the log says that it may have come in.
  await log.append({ type: 'message_steered', messageId, turnId, message });
  const { outcome, detail } = await trySteer(running, text);
  switch (outcome) {
    case 'accepted':
    case 'queued':
    case 'enqueued':
      await confirmMessage(log, { messageId, turnId, outcome: 'confirmed' });
      return { status: outcome === 'accepted' ? 'steered' : 'queued', turnId, messageId, detail };
    case 'refused':
      await confirmMessage(log, { messageId, turnId, outcome: 'failed' });
      return undefined;
    case 'unknown':
      await confirmMessage(log, { messageId, turnId, outcome: 'uncertain' });
      return { status: 'uncertain', turnId, messageId, detail };
  }
}

async function trySteer({ steer: put }: RunningTurn, text: string): Promise<AgentSteerResult> {
  try {
    return await put(text);
  } catch (error) {
    return { outcome: 'unknown', detail: error instanceof Error ? error.message : String(error) };
  }
}
