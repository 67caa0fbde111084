import { join, resolve } from 'node:path';

/** Every path below one data directory. Nothing else in the package joins one. */
export interface BuilderLayout {
  readonly root: string;
  readonly format: string;
  readonly chatsDir: string;
  /** The chat's append-only log: the truth, all else is derived from it. */
  readonly chatEvents: (chatId: string) => string;
  readonly chatLease: (chatId: string) => string;
  /** One marker a chat that owes something; looked at first after a restart. */
  readonly openDir: string;
  readonly openMarker: (chatId: string) => string;
}

/** The paths below `dataDir`. Pure. */
export function builderLayout(dataDir: string): BuilderLayout {
  const root = resolve(dataDir);
  const chatsDir = join(root, 'chats');
  const openDir = join(root, 'open');
  return {
    root,
    format: join(root, 'FORMAT'),
    chatsDir,
    chatEvents: (chatId) => join(chatsDir, checkId(chatId), 'events.jsonl'),
    chatLease: (chatId) => join(chatsDir, checkId(chatId), 'lease'),
    openDir,
    openMarker: (chatId) => join(openDir, checkId(chatId)),
  };
}

/** Tells whether an id may name a folder. */
export function isChatId(id: string): boolean {
  return /^[A-Za-z0-9._-]{1,200}$/.test(id) && !/^\.+$/.test(id);
}

function checkId(id: string): string {
  if (isChatId(id)) return id;
  throw new TypeError(`${JSON.stringify(id)} is no chat id; use 1 to 200 of A-Z a-z 0-9 . _ -`);
}
