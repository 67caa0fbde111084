import { keepSessionEnd } from '../terminals/keep-session.js';
import type { CloseReason } from '../terminals/terminal-record.js';
import type { ChatContext } from './chat-context.js';
import { UnknownChatError } from './chat-error.js';
import type { ChatLog } from './chat-log.js';
import { type ChatView, findOpenTurn } from './chat-view.js';
import { confirmLostSteers } from './confirm-message.js';
import { createChatAgent } from './create-chat-agent.js';
import { chatSessionOf, keepChatSession } from './keep-chat-session.js';
import { settleOpenTurn } from './settle-open-turn.js';
import { withChat } from './with-chat.js';

/** How a chat is closed. */
export interface CloseChatOptions {
  /** Puts the session away for good: no further message. False when absent. */
  readonly archive?: boolean | undefined;
  /** How long ending its processes may take. */
  readonly deadlineMs?: number | undefined;
  /** `fail` with `session_busy` when absent, or `wait` for the turn that runs. */
  readonly whenBusy?: 'fail' | 'wait' | undefined;
}

interface CloseRequest extends CloseChatOptions {
  readonly closeReason?: CloseReason | undefined;
}

/** Settles what a crash left open, then ends every process of the chat's session. */
export async function closeChat(
  context: ChatContext,
  chatId: string,
  { whenBusy, ...request }: CloseRequest,
): Promise<ChatView> {
  return await withChat(context, chatId, { whenBusy }, (log) =>
    closeSession(context, log, { ...request, chatId }),
  );
}

async function closeSession(
  context: ChatContext,
  log: ChatLog,
  {
    chatId,
    archive,
    deadlineMs,
    closeReason = 'closed',
  }: CloseRequest & { readonly chatId: string },
): Promise<ChatView> {
  const view = log.view();
  if (!view) throw new UnknownChatError(chatId);
  await confirmLostSteers(log);
  const open = findOpenTurn(view);
  if (open) await settleOpenTurn(context, log, open);
  const handle = log.view()?.handle;
  if (handle) {
    await using agent = createChatAgent(context, view);
    agent.applyAgentSessionHandle(handle);
    await keepChatSession(context, view, agent);
    await agent.close({ archive, deadlineMs });
    await keepSessionEnd(context, chatSessionOf(view), closeReason);
    const closed = agent.currentAgentSessionHandle();
    if (closed) await log.append({ type: 'handle_changed', handle: closed });
  }
  await log.append({ type: 'chat_closed', archived: archive ?? false });
  return log.view() ?? view;
}
