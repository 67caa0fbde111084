import type { ChatContext } from './chat-context.js';
import { type ChatLog, openChatLog } from './chat-log.js';
import { drainLater } from './drain-inbox.js';
import { takeChat } from './take-chat.js';

interface WithChatOptions {
  readonly whenBusy?: 'fail' | 'wait' | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Takes the chat's lane, opens its log and lets go of both at the end; then what was put into its inbox meanwhile gets its turn. */
export async function withChat<Value>(
  context: ChatContext,
  chatId: string,
  options: WithChatOptions,
  act: (log: ChatLog) => Promise<Value>,
): Promise<Value> {
  const lease = await takeChat(context.store, chatId, options);
  try {
    await using _lane = lease;
    return await act(await openChatLog(context.store, chatId, lease));
  } finally {
    drainLater(context, chatId);
  }
}
