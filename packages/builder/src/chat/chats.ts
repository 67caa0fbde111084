import { randomUUID } from 'node:crypto';
import { checkMessage, type Message } from '@holdfast/agent';
import { keys } from '../persistence/keys.js';
import type { TerminalGroup } from '../terminals/terminal-group.js';
import { untilEither } from '../until-either.js';
import type { ChatContext } from './chat-context.js';
import type { ChatDelivery, PostOptions } from './chat-delivery.js';
import { UnknownAgentError, UnknownChatError } from './chat-error.js';
import type { ChatEvent } from './chat-event.js';
import { checkChatId } from './chat-id.js';
import { type ChatEventsOptions, iterateChatEvents, readChatView } from './chat-log.js';
import { sendIntoChat } from './chat-turn.js';
import type { ChatTurn, SendOptions } from './chat-turn-result.js';
import type { ChatView } from './chat-view.js';
import { type CloseChatOptions, closeChat } from './close-chat.js';
import { readLegacyChat } from './import-legacy-chat.js';
import { postMessage } from './post-message.js';
import { withChat } from './with-chat.js';

/** One chat. It holds nothing open: everything is read from the log when asked. */
export interface Chat {
  readonly chatId: string;
  readonly view: () => Promise<ChatView>;
  /** Sends one message; it is on disk, with its turn id, before anything is sent. */
  readonly send: (message: Message, options?: SendOptions) => ChatTurn;
  /** Sends one message whatever the chat does, by an explicit policy; resolves once it is clear which way it goes. */
  readonly post: (message: Message, options: PostOptions) => Promise<ChatDelivery>;
  readonly events: (options?: ChatEventsOptions) => AsyncIterable<ChatEvent>;
  readonly terminals: () => Promise<TerminalGroup>;
  /** Ends the session's processes; a later message resumes it natively, unless it was archived. */
  readonly close: (options?: CloseChatOptions) => Promise<ChatView>;
}

/** A new chat, or one to restore. */
export interface OpenChatOptions {
  /** Made when absent; an id that exists already restores that chat. */
  readonly chatId?: string | undefined;
  /** The id of an agent that was given to `createBuilder`. */
  readonly agent: string;
  readonly title?: string | undefined;
}

/** How a legacy file is taken over. */
export interface ImportChatOptions {
  readonly agent: string;
  /** The record's own session id when absent. */
  readonly chatId?: string | undefined;
  readonly title?: string | undefined;
  /** The record's workspace was the CLI's own working directory; false when absent. */
  readonly workspaceIsWorkingDir?: boolean | undefined;
}

/** A chat in a list. One whose log cannot be read has an `error` and no view; its files stay as they are. */
export type ChatEntry =
  | { readonly chatId: string; readonly view: ChatView; readonly error?: undefined }
  | { readonly chatId: string; readonly view?: undefined; readonly error: unknown };

/** The chats of one data directory. */
export interface Chats {
  /** Opens a new chat, or restores the one of that id, in whichever process it began. */
  readonly open: (options: OpenChatOptions) => Promise<Chat>;
  /** The chat of that id, or `unknown_chat`. */
  readonly get: (chatId: string) => Promise<Chat>;
  readonly list: () => Promise<readonly ChatEntry[]>;
  readonly send: (chat: string | Chat, message: Message, options?: SendOptions) => ChatTurn;
  readonly post: (
    chat: string | Chat,
    message: Message,
    options: PostOptions,
  ) => Promise<ChatDelivery>;
  readonly close: (chat: string | Chat, options?: CloseChatOptions) => Promise<ChatView>;
  /** Takes over a chat file of an older system, field by field. Doing it twice gives the same chat. */
  readonly importLegacyChat: (file: string, options: ImportChatOptions) => Promise<Chat>;
}

/** The chats below a builder's data directory. */
export function createChats(context: ChatContext): Chats {
  const at = (chatId: string) => createChat(context, chatId);
  return {
    open: async (options) => {
      context.checkOpen();
      const chatId = readChatId(options.chatId);
      await openChat(context, chatId, options);
      return at(chatId);
    },
    get: async (chatId) => {
      await getChatView(context, chatId);
      return at(chatId);
    },
    list: () => listChats(context),
    send: (chat, message, options) => at(idOf(chat)).send(message, options),
    post: (chat, message, options) => at(idOf(chat)).post(message, options),
    close: (chat, options) => at(idOf(chat)).close(options),
    importLegacyChat: async (file, options) => {
      context.checkOpen();
      return at(await importChat(context, file, options));
    },
  };
}

function createChat(context: ChatContext, chatId: string): Chat {
  return {
    chatId: checkChatId(chatId),
    view: () => getChatView(context, chatId),
    send: (message, options = {}) => {
      context.checkOpen();
      checkMessage(message);
      return sendIntoChat(context, chatId, message, options);
    },
    post: async (message, options) => {
      context.checkOpen();
      checkMessage(message);
      checkPolicy(options.policy);
      return await postMessage(context, chatId, message, options);
    },
    events: ({ from, follow } = {}) =>
      iterateChatEvents(context.store, chatId, {
        from,
        follow: untilEither(follow, context.closing),
      }),
    terminals: async () => (await getChatView(context, chatId)).terminals,
    close: (options = {}) => {
      context.checkOpen();
      return closeChat(context, chatId, options);
    },
  };
}

async function openChat(
  context: ChatContext,
  chatId: string,
  { agent, title }: OpenChatOptions,
): Promise<void> {
  const known = await readChatView(context.store, chatId);
  if (known) return checkSameAgent(known, agent);
  if (!context.agents.has(agent)) throw new UnknownAgentError(chatId, agent);
  await withChat(context, chatId, { whenBusy: 'wait' }, async (log) => {
    const view = log.view();
    if (view) return checkSameAgent(view, agent);
    await log.append({ type: 'chat_opened', agent, title });
  });
}

function checkSameAgent({ chatId, agent }: ChatView, asked: string): void {
  if (agent === asked) return;
  throw new TypeError(`Chat ${chatId} belongs to the agent ${agent}, not ${asked}.`);
}

async function importChat(
  context: ChatContext,
  file: string,
  options: ImportChatOptions,
): Promise<string> {
  const { agent, title } = options;
  const { record, messages, handle } = await readLegacyChat(file, options);
  const chatId = readChatId(options.chatId ?? record.sessionId);
  if (!context.agents.has(agent)) throw new UnknownAgentError(chatId, agent);
  await withChat(context, chatId, { whenBusy: 'wait' }, async (log) => {
    const view = log.view();
    if (view && (view.legacy || view.turns.length > 0)) return checkSameAgent(view, agent);
    if (!view) await log.append({ type: 'chat_opened', agent, title });
    if (handle) await log.append({ type: 'handle_changed', handle });
    // Last: an import that a crash cut off is done again from its beginning.
    await log.append({ type: 'chat_imported', record, messages });
  });
  return chatId;
}

async function listChats({ store }: ChatContext): Promise<readonly ChatEntry[]> {
  const entries: ChatEntry[] = [];
  for (const chatId of await store.list(keys.chats())) {
    try {
      const view = await readChatView(store, chatId);
      if (view) entries.push({ chatId, view });
    } catch (error) {
      entries.push({ chatId, error });
    }
  }
  return entries;
}

async function getChatView({ store }: ChatContext, chatId: string): Promise<ChatView> {
  const view = await readChatView(store, chatId);
  if (!view) throw new UnknownChatError(chatId);
  return view;
}

function checkPolicy(policy: unknown): void {
  if (policy === 'queue' || policy === 'steer' || policy === 'fail') return;
  throw new TypeError(`policy must be queue, steer or fail, not ${JSON.stringify(policy)}.`);
}

function readChatId(chatId: string | undefined): string {
  return chatId === undefined ? randomUUID() : checkChatId(chatId);
}

function idOf(chat: string | Chat): string {
  return typeof chat === 'string' ? chat : chat.chatId;
}
