import { composeTurn, type Message, readTurnId, type TurnStage } from '@holdfast/agent';
import type { ChatContext } from './chat-context.js';
import { UnknownChatError } from './chat-error.js';
import type { ChatLog } from './chat-log.js';
import type { ChatTurn, ChatTurnResult, SendOptions } from './chat-turn-result.js';
import { type ChatTurnRecord, type ChatView, findOpenTurn } from './chat-view.js';
import { confirmLostSteers } from './confirm-message.js';
import { runChatTurn } from './run-chat-turn.js';
import { findKnownTurn, settleOpenTurn } from './settle-open-turn.js';
import { withChat } from './with-chat.js';

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
  return await withChat(context, chatId, { whenBusy, signal: stage.waiting }, async (log) => {
    const view = log.view();
    if (!view) throw new UnknownChatError(chatId);
    const known = findKnownTurn(view, stage.turnId, message);
    if (known?.state === 'completed') return replay(view, known);
    await settleEarlierTurn(context, log, stage);
    return await runChatTurn(context, { log, stage, turnId: stage.turnId, message, options });
  });
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
  await confirmLostSteers(log);
  const view = log.view();
  const open = view && findOpenTurn(view);
  if (!open || open.turnId === stage.turnId) return;
  await settleOpenTurn(context, log, open);
}
