import { type ErrorJson, isContinuationError, isTurnError } from '@holdfast/agent';
import { listNames, unmarkOpen } from '../persistence/open-work.js';
import type { ChatContext } from './chat-context.js';
import { isChatError } from './chat-error.js';
import { openChatLog } from './chat-log.js';
import { settleOpenTurn } from './chat-turn.js';
import { findOpenTurn } from './chat-view.js';
import { takeChat } from './take-chat.js';

/** What was done with one chat that a crash left with an open turn. */
export type RecoveredChat =
  | {
      readonly chatId: string;
      readonly turnId: string;
      readonly outcome: 'completed' | 'failed';
      /** Why it failed; it waits for the same turn id. */
      readonly error?: ErrorJson | undefined;
    }
  /** Nothing was changed: a living owner has it, its agent is not registered, or its state cannot be used. */
  | {
      readonly chatId: string;
      readonly turnId?: string | undefined;
      readonly outcome: 'left';
      readonly reason: 'busy' | 'unknown_agent' | 'unusable';
      readonly detail: string;
    };

/** What a builder found open when it was made. */
export interface RecoveryReport {
  readonly chats: readonly RecoveredChat[];
}

/** How many chats are gone on with at once; each may start a CLI. */
const RECOVER_AT_ONCE = 4;

/** Settles every chat turn that a crash left open: the same turn id, the stored message. Doing it twice sends once. */
export async function recoverChats(context: ChatContext): Promise<RecoveryReport> {
  const waiting = [...(await listNames(context.layout.openDir))].sort();
  const chats: RecoveredChat[] = [];
  const work = async () => {
    for (let chatId = waiting.shift(); chatId !== undefined; chatId = waiting.shift()) {
      const recovered = await recoverChat(context, chatId);
      if (recovered) chats.push(recovered);
    }
  };
  await Promise.all(Array.from({ length: RECOVER_AT_ONCE }, work));
  return { chats };
}

async function recoverChat(
  context: ChatContext,
  chatId: string,
): Promise<RecoveredChat | undefined> {
  try {
    return await settleChat(context, chatId);
  } catch (error) {
    const reason = reasonOf(error);
    const detail = error instanceof Error ? error.message : String(error);
    context.logger?.warn({ chat_id: chatId, reason, err: error }, 'chat not recovered');
    return { chatId, outcome: 'left', reason, detail };
  }
}

async function settleChat(
  context: ChatContext,
  chatId: string,
): Promise<RecoveredChat | undefined> {
  await using lease = await takeChat(context.layout, chatId);
  const log = await openChatLog(context.layout.chatEvents(chatId), chatId, lease);
  const view = log.view();
  const open = view && findOpenTurn(view);
  if (!open) {
    await unmarkOpen(context.layout, chatId);
    return undefined;
  }
  const { turnId } = open;
  await settleOpenTurn(context, log, open);
  const settled = log.view()?.turns.find((one) => one.turnId === turnId);
  return settled?.state === 'completed'
    ? { chatId, turnId, outcome: 'completed' }
    : { chatId, turnId, outcome: 'failed', error: settled?.error };
}

function reasonOf(error: unknown): 'busy' | 'unknown_agent' | 'unusable' {
  if (isChatError(error)) return error.kind === 'unknown_agent' ? 'unknown_agent' : 'unusable';
  const isBusy = isTurnError(error) && error.kind === 'session_busy';
  return isBusy && !isContinuationError(error) ? 'busy' : 'unusable';
}
