import type { AgentSteerResult } from '@holdfast/agent';
import type { Store } from '../persistence/store.js';
import type { ChatLog } from './chat-log.js';

/** The turn of a chat that this process runs. */
export interface RunningTurn {
  readonly turnId: string;
  /** Open, with the chat's lease, until the turn has settled. */
  readonly log: ChatLog;
  readonly steer: (text: string) => Promise<AgentSteerResult>;
}

/** What this process does with a chat. Nothing here is durable, and nothing says whether the chat is busy: its lease does. */
export class ChatDesk {
  /** Set while something can be put into the turn. */
  running: RunningTurn | undefined;
  /** What puts something into the running turn and has not ended. */
  readonly steering = new Set<Promise<unknown>>();
  #draining: Promise<void> | undefined;
  #drainAgain = false;
  #posts: Promise<unknown> = Promise.resolve();

  /** Decides about one posted message at a time, in the order they came. */
  inOrder<Value>(decide: () => Promise<Value>): Promise<Value> {
    const decided = this.#posts.then(decide);
    this.#posts = decided.catch(() => {});
    return decided;
  }

  /** Drains in the background; asked for again while it does, it looks once more. */
  drain(once: () => Promise<void>): void {
    this.#drainAgain = true;
    this.#draining ??= this.#drainAll(once).finally(() => {
      this.#draining = undefined;
    });
  }

  async #drainAll(once: () => Promise<void>): Promise<void> {
    while (this.#drainAgain) {
      this.#drainAgain = false;
      await once();
    }
  }
}

const desks = new WeakMap<Store, Map<string, ChatDesk>>();

/** The desk of a chat, one for each store of this process. */
export function deskOf(store: Store, chatId: string): ChatDesk {
  const ofStore = desks.get(store) ?? new Map<string, ChatDesk>();
  desks.set(store, ofStore);
  const desk = ofStore.get(chatId) ?? new ChatDesk();
  ofStore.set(chatId, desk);
  return desk;
}
