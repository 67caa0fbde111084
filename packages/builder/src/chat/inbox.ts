import { isoInstant, type Message, systemClock } from '@holdfast/agent';
import { keys } from '../persistence/keys.js';
import type { Store } from '../persistence/store.js';
import { decodeInboxMessage, encodeInboxMessage } from './inbox-message.wire.js';

/** A message that waits on disk for the chat's lane. Anybody may put one in; only who has the lane takes one out. */
export interface InboxMessage {
  /** The idempotency key, and the id of the turn it becomes. */
  readonly messageId: string;
  readonly message: Message;
  readonly postedAt: string;
}

/** Whether anything waits. */
export async function hasWaitingMessages(store: Store, chatId: string): Promise<boolean> {
  return (await listWaiting(store, chatId)).length > 0;
}

/** The names of what waits, oldest first. */
export async function listWaiting(store: Store, chatId: string): Promise<readonly string[]> {
  return (await store.list(keys.chatInbox(chatId))).filter((name) => NAME.test(name));
}

/** What waits under a name; `undefined` once it was taken out, or set aside because it was no JSON. */
export async function readWaiting(
  store: Store,
  chatId: string,
  name: string,
): Promise<InboxMessage | undefined> {
  const key = [...keys.chatInbox(chatId), name];
  const found = await store.read(key);
  return found.state === 'present' ? decodeInboxMessage(found.value, key.join('/')) : undefined;
}

/** The waiting message of an id, if there is one. */
export async function findWaiting(
  store: Store,
  chatId: string,
  messageId: string,
): Promise<InboxMessage | undefined> {
  const name = (await listWaiting(store, chatId)).find((one) => idOfName(one) === messageId);
  return name === undefined ? undefined : readWaiting(store, chatId, name);
}

/** Puts a message behind all that wait. On disk when it resolves. */
export async function putWaiting(
  store: Store,
  chatId: string,
  { messageId, message }: Pick<InboxMessage, 'messageId' | 'message'>,
): Promise<void> {
  const last = (await listWaiting(store, chatId)).at(-1) ?? '';
  const order = Number(last.slice(0, ORDER_DIGITS)) + 1;
  const name = `${String(order).padStart(ORDER_DIGITS, '0')}-${messageId}.json`;
  const postedAt = isoInstant(systemClock);
  const record = encodeInboxMessage({ messageId, message, postedAt });
  await store.write([...keys.chatInbox(chatId), name], record);
}

/** Takes a message out. */
export async function removeWaiting(store: Store, chatId: string, name: string): Promise<void> {
  await store.remove([...keys.chatInbox(chatId), name]);
}

const ORDER_DIGITS = 15;
const NAME = /^\d{15}-[0-9a-f-]{36}\.json$/;

function idOfName(name: string): string {
  return name.slice(ORDER_DIGITS + 1, -'.json'.length);
}
