/** Tells whether an id may name a chat. */
export function isChatId(id: string): boolean {
  return /^[A-Za-z0-9._-]{1,200}$/.test(id) && !/^\.+$/.test(id);
}

/** Returns the id of a chat, or throws a TypeError. */
export function checkChatId(id: string): string {
  if (isChatId(id)) return id;
  throw new TypeError(`${JSON.stringify(id)} is no chat id; use 1 to 200 of A-Z a-z 0-9 . _ -`);
}
