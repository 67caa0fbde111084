import type { Logger } from '@holdfast/agent';
import { type AgentSource, createAgentRegistry } from './agents.js';
import type { ChatContext } from './chat/chat-context.js';
import type { ChatEvent } from './chat/chat-event.js';
import type { ChatEventsOptions } from './chat/chat-log.js';
import { type Chats, createChats } from './chat/chats.js';
import { type RecoveryReport, recoverChats } from './chat/recover-chats.js';
import { prepareStore } from './persistence/data-format.js';
import { createFileStore } from './persistence/file-store.js';
import { createTerminals, type Terminals } from './terminals/terminals.js';

/** What a builder is made of. */
export interface BuilderOptions {
  /** Everything durable stands below it; made when it is not there. */
  readonly dataDir: string;
  /** The agents that stored work may name, by id. */
  readonly agents: Readonly<Record<string, AgentSource>>;
  readonly logger?: Logger | undefined;
}

/** Chats on disk, gone on with after any crash. Several builders may share one data directory. */
export interface Builder extends AsyncDisposable {
  readonly chats: Chats;
  /** The terminals of each chat, current and previous. Observations only. */
  readonly terminals: Terminals;
  /** The log of one chat from a sequence number on; with `follow`, further events as they come. */
  readonly events: (chatId: string, options?: ChatEventsOptions) => AsyncIterable<ChatEvent>;
  /** What was found open when this builder was made, and what became of it. */
  readonly recovery: RecoveryReport;
  /** Takes no further work. Turns that run go on to their end, and sessions stay alive. */
  readonly close: () => Promise<void>;
}

/**
 * Makes a builder. Before it resolves, every chat turn that a crash left open was settled with its own turn id, or
 * is reported in `recovery` with its state kept.
 */
export async function createBuilder(options: BuilderOptions): Promise<Builder> {
  checkOptions(options);
  const store = createFileStore(options);
  let isClosed = false;
  const context: ChatContext = {
    store,
    agents: createAgentRegistry(options.agents),
    logger: options.logger,
    checkOpen: () => {
      if (isClosed) throw new TypeError('This builder was closed; make another one.');
    },
  };
  await prepareStore(store);
  const recovery = await recoverChats(context);
  const chats = createChats(context);
  const close = async () => {
    isClosed = true;
  };
  return {
    chats,
    terminals: createTerminals(chats),
    events: async function* (chatId, eventsOptions) {
      yield* (await chats.get(chatId)).events(eventsOptions);
    },
    recovery,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function checkOptions({ dataDir, agents }: BuilderOptions): void {
  if (typeof dataDir !== 'string' || dataDir.trim() === '') {
    throw new TypeError('dataDir must be a path.');
  }
  if (typeof agents !== 'object' || agents === null) {
    throw new TypeError('agents must be a record from id to agent options.');
  }
}
