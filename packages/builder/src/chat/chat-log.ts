import {
  appendJsonLine,
  followJsonLines,
  isoInstant,
  type Lease,
  readJsonLines,
  SessionBusyError,
  StateUnusableError,
  systemClock,
} from '@holdfast/agent';
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
export async function openChatLog(
  path: string,
  chatId: string,
  lease: Pick<Lease, 'isCurrent'>,
): Promise<ChatLog> {
  const events = [...(await readChatEvents(path))];
  let view = foldChat(events);
  let writes: Promise<unknown> = Promise.resolve();
  const write = async (body: ChatEventBody, sync: boolean) => {
    // An owner that froze and lost the lease would give a number twice.
    if (!lease.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
    const stamp = { chatId, sequence: events.length, at: isoInstant(systemClock) };
    const event: ChatEvent = { ...body, ...stamp };
    await appendJsonLine(path, encodeChatEvent(event), { sync });
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
export async function readChatEvents(path: string): Promise<readonly ChatEvent[]> {
  const read = await readJsonLines(path);
  if (read === 'absent') return [];
  const whole = read.lines.filter(({ value }) => value !== undefined);
  return whole.map(({ value }, index) => checkSequence(decodeChatEvent(value, path), index, path));
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
  path: string,
  { from = 0, follow }: ChatEventsOptions,
): AsyncGenerator<ChatEvent, void, undefined> {
  if (!follow) {
    yield* (await readChatEvents(path)).slice(from);
    return;
  }
  for await (const line of followJsonLines(path, { signal: follow })) {
    if (line.replaced || line.value === undefined) continue;
    const event = decodeChatEvent(line.value, path);
    if (event.sequence >= from) yield event;
  }
}
