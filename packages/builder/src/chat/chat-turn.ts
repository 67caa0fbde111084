import {
  composeTurn,
  digestMessage,
  type Message,
  readTurnId,
  TurnConflictError,
  type TurnStage,
} from '@holdfast/agent';
import type { ChatContext } from './chat-context.js';
import { UnknownChatError } from './chat-error.js';
import { type ChatLog, openChatLog } from './chat-log.js';
import type { ChatTurn, ChatTurnResult, SendOptions } from './chat-turn-result.js';
import { type ChatTurnRecord, type ChatView, findOpenTurn } from './chat-view.js';
import { runChatTurn } from './run-chat-turn.js';
import { takeChat } from './take-chat.js';

/** Sends one message into a chat. Message and turn id are on disk before anything is sent. */
export function sendIntoChat(
  context: ChatContext,
  chatId: string,
  message: Message,
  options: SendOptions,
): ChatTurn {
  return composeTurn<ChatTurnResult>({
    turnId: readTurnId(options.turnId),
    signal: options.signal,
    body: (stage) => send(context, stage, { chatId, message, options }),
  });
}

interface SendRequest {
  readonly chatId: string;
  readonly message: Message;
  readonly options: SendOptions;
}

async function send(
  context: ChatContext,
  stage: TurnStage,
  { chatId, message, options }: SendRequest,
): Promise<ChatTurnResult> {
  const { whenBusy } = options;
  const path = context.layout.chatEvents(chatId);
  await using lease = await takeChat(context.layout, chatId, { whenBusy, signal: stage.waiting });
  const log = await openChatLog(path, chatId, lease);
  const view = log.view();
  if (!view) throw new UnknownChatError(chatId);
  const known = findKnownTurn(view, stage.turnId, message);
  if (known?.state === 'completed') return replay(view, known);
  await settleEarlierTurn(context, log, stage);
  // Awaited here: the chat's lease must be held until the turn is over.
  return await runChatTurn(context, { log, stage, turnId: stage.turnId, message, options });
}

/** The turn that was made for this id before. Made for another message, it is a conflict. */
function findKnownTurn(
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

function replay(view: ChatView, known: ChatTurnRecord): ChatTurnResult {
  if (!view.handle) throw new Error('unreachable: a completed turn has a handle');
  return {
    chatId: view.chatId,
    turnId: known.turnId,
    answer: known.answer ?? '',
    usage: known.usage,
    stopReason: known.stopReason ?? 'end_turn',
    recovered: known.recovered ?? false,
    handle: view.handle,
  };
}

/** A turn that another process left open goes first, so that the messages stay in order. */
async function settleEarlierTurn(
  context: ChatContext,
  log: ChatLog,
  stage: TurnStage,
): Promise<void> {
  const view = log.view();
  const open = view && findOpenTurn(view);
  if (!open || open.turnId === stage.turnId) return;
  await settleOpenTurn(context, log, open);
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
