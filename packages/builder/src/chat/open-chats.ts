import { keys } from '../persistence/keys.js';
import type { ChatContext } from './chat-context.js';
import { hasWaitingMessages } from './inbox.js';

/** The chats that may owe something, by their marks. */
export function listOpenChats({ store }: Pick<ChatContext, 'store'>): Promise<readonly string[]> {
  return store.list(keys.openChats());
}

/** Says on disk that a chat owes something, before it owes it. */
export async function markOpen(
  { store }: Pick<ChatContext, 'store'>,
  chatId: string,
): Promise<void> {
  await store.write(keys.openChat(chatId), {});
}

/** Takes the mark away unless messages wait. One that is left behind is harmless: log and inbox are the truth. */
export async function unmarkOpen(
  { store }: Pick<ChatContext, 'store'>,
  chatId: string,
): Promise<void> {
  try {
    if (await hasWaitingMessages(store, chatId)) return;
    await store.remove(keys.openChat(chatId));
    // Whoever put one in meanwhile may have set the mark just before it was taken away.
    if (await hasWaitingMessages(store, chatId)) await markOpen({ store }, chatId);
  } catch {
    // A completed turn must not fail for it.
  }
}
