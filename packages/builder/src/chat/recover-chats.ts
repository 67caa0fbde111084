import { type ErrorJson, isContinuationError, isTurnError } from '@holdfast/agent';
import type { ChatContext } from './chat-context.js';
import { isChatError } from './chat-error.js';
import { openChatLog } from './chat-log.js';
import { CHATS_QUEUE } from './drain-inbox.js';
import { hasWaitingMessages } from './inbox.js';
import { listOpenChats, unmarkOpen } from './open-chats.js';
import { takeChat } from './take-chat.js';
import { workOffChat } from './work-off-chat.js';

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

/**
 * Settles every chat turn that a crash left open: the same turn id, the stored message. What waits in an inbox is the job engine's,
 * and without one it is run as well. Doing it twice sends once.
 */
export async function recoverChats(context: ChatContext): Promise<RecoveryReport> {
  const waiting = [...(await listOpenChats(context))].sort();
  const chats: RecoveredChat[] = [];
  const work = async () => {
    for (let chatId = waiting.shift(); chatId !== undefined; chatId = waiting.shift()) {
      chats.push(...(await recoverChat(context, chatId)));
    }
  };
  await Promise.all(Array.from({ length: RECOVER_AT_ONCE }, work));
  return { chats };
}

async function recoverChat(
  context: ChatContext,
  chatId: string,
): Promise<readonly RecoveredChat[]> {
  try {
    const settled = await settleChat(context, chatId);
    if (await hasWaitingMessages(context.store, chatId)) await queueInbox(context, chatId);
    return settled;
  } catch (error) {
    const reason = reasonOf(error);
    const detail = error instanceof Error ? error.message : String(error);
    context.logger?.warn({ chat_id: chatId, reason, err: error }, 'chat not recovered');
    return [{ chatId, outcome: 'left', reason, detail }];
  }
}

async function settleChat(context: ChatContext, chatId: string): Promise<readonly RecoveredChat[]> {
  await using lease = await takeChat(context.store, chatId);
  const log = await openChatLog(context.store, chatId, lease);
  const work = { withInbox: context.engine === undefined, isStopped: () => false };
  const { turns } = await workOffChat(context, log, work);
  if (!log.view()) await unmarkOpen(context, chatId);
  return turns.map(({ turnId, state, error }) =>
    state === 'completed'
      ? { chatId, turnId, outcome: state }
      : { chatId, turnId, outcome: state, error },
  );
}

async function queueInbox({ engine }: ChatContext, chatId: string): Promise<void> {
  await engine?.enqueue(CHATS_QUEUE, chatId, { chat_id: chatId });
}

function reasonOf(error: unknown): 'busy' | 'unknown_agent' | 'unusable' {
  if (isChatError(error)) return error.kind === 'unknown_agent' ? 'unknown_agent' : 'unusable';
  const isBusy = isTurnError(error) && error.kind === 'session_busy';
  return isBusy && !isContinuationError(error) ? 'busy' : 'unusable';
}
