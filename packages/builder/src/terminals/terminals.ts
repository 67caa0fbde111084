import type { Chats } from '../chat/chats.js';
import type { TerminalGroup } from './terminal-group.js';

/** The terminals of every chat, one group each. */
export interface Terminals {
  /** The group of one chat, or `unknown_chat`. */
  readonly get: (chatId: string) => Promise<TerminalGroup>;
  /** The groups of all readable chats that ever had a terminal. */
  readonly list: () => Promise<readonly TerminalGroup[]>;
}

/** Derived from the chats' own logs; nothing is kept twice. */
export function createTerminals(chats: Chats): Terminals {
  return {
    get: async (chatId) => (await chats.get(chatId)).terminals(),
    list: async () =>
      (await chats.list())
        .flatMap(({ view }) => (view ? [view.terminals] : []))
        .filter(({ terminals }) => terminals.length > 0),
  };
}
