import { isoInstant, type Lease, StateUnusableError, systemClock } from '@holdfast/agent';
import { keys } from '../persistence/keys.js';
import type { Store } from '../persistence/store.js';
import type { ChatEvent, ChatEventBody } from './chat-event.js';
import { decodeChatEvent, encodeChatEvent } from './chat-event.wire.js';
import { applyChatEvent, type ChatView, foldChat } from './chat-view.js';

interface AppendOptions {
  /** Whether the event must be durable before anything else happens; true when absent. */
  readonly sync?: boolean | undefined;
}

/** A chat's log, held open by whoever has the chat's lease. */
export interface ChatLog {
  /** What the chat is after everything appended so far; `undefined` before it was opened. */
  readonly view: () => ChatView | undefined;
  readonly events: readonly ChatEvent[];
  /** Appends in the order of the calls; durable when it resolves. */
  readonly append: (body: ChatEventBody, options?: AppendOptions) => Promise<ChatEvent>;
}

/** Opens the log for writing. Only with the chat's lease: sequence numbers have one writer. */
export async function openChatLog(store: Store, chatId: string, lease: Lease): Promise<ChatLog> {
  const key = keys.chatEvents(chatId);
  const events = [...(await readChatEvents(store, chatId))];
  let view = foldChat(events);
  let writes: Promise<unknown> = Promise.resolve();
  const write = async (body: ChatEventBody, sync: boolean) => {
    const stamp = { chatId, sequence: events.length, at: isoInstant(systemClock) };
    const event: ChatEvent = { ...body, ...stamp };
    // An owner that froze and lost the lease would give a number twice.
    await store.append(key, encodeChatEvent(event), { sync, lease });
    events.push(event);
    view = applyChatEvent(view, event);
    return event;
  };
  const append = (body: ChatEventBody, { sync = true }: AppendOptions = {}) => {
    const written = writes.then(() => write(body, sync));
    // One failed write is its caller's; the next one tries anew.
    writes = written.catch(() => {});
    return written;
  };
  return { view: () => view, events, append };
}

/** Every event on disk. Read-only and without the lease: a half-written last line is not there yet. */
async function readChatEvents(store: Store, chatId: string): Promise<readonly ChatEvent[]> {
  const key = keys.chatEvents(chatId);
  const path = key.join('/');
  const events: ChatEvent[] = [];
  for await (const entry of store.readLog(key)) {
    events.push(checkSequence(decodeChatEvent(entry, path), events.length, path));
  }
  return events;
}

/** What the chat is on disk; `undefined` before it was opened. */
export async function readChatView(store: Store, chatId: string): Promise<ChatView | undefined> {
  return foldChat(await readChatEvents(store, chatId));
}

/** A torn line leaves no gap, since its number is given again; a gap means that something durable is lost. */
function checkSequence(event: ChatEvent, index: number, path: string): ChatEvent {
  if (event.sequence === index) return event;
  throw new StateUnusableError(
    path,
    'damaged',
    `event ${index} is missing. Nothing was sent or changed; restore the file.`,
  );
}

/** How a log is read. */
export interface ChatEventsOptions {
  /** The first sequence number wanted; 0 when absent. */
  readonly from?: number | undefined;
  /** Waits for further events until it aborts; without it, reading ends with what is on disk. */
  readonly follow?: AbortSignal | undefined;
}

/** The events from a sequence number on, whoever writes them. */
export async function* iterateChatEvents(
  store: Store,
  chatId: string,
  { from = 0, follow }: ChatEventsOptions,
): AsyncGenerator<ChatEvent, void, undefined> {
  if (!follow) {
    yield* (await readChatEvents(store, chatId)).slice(from);
    return;
  }
  const key = keys.chatEvents(chatId);
  for await (const entry of store.readLog(key, { follow })) {
    const event = decodeChatEvent(entry, key.join('/'));
    if (event.sequence >= from) yield event;
  }
}
