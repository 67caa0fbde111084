/** Something with a session of its own: a chat, or an execution by its id. */
export type SessionOwner =
  | { readonly kind: 'chat'; readonly chatId: string }
  | { readonly kind: 'execution'; readonly executionId: string };

/** The owner as one string, for events and keys. */
export function sessionOwnerId(owner: SessionOwner): string {
  return owner.kind === 'chat' ? owner.chatId : owner.executionId;
}
