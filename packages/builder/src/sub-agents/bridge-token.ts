import { createHmac, timingSafeEqual } from 'node:crypto';
import { type SessionOwner, sessionOwnerId } from '../executions/execution-owner.js';

/**
 * The token of a session: its owner's id and a proof that whoever holds the secret made it. The same in every process
 * and after every restart.
 */
export function tokenFor(owner: SessionOwner, secret: Uint8Array): string {
  const id = sessionOwnerId(owner);
  return `${id}.${proofOf(id, secret).toString('hex')}`;
}

/** Whose token an `Authorization` header carries; `undefined` for none and for one that proves nothing. */
export function findTokenOwner(
  header: string | undefined,
  secret: Uint8Array,
): SessionOwner | undefined {
  const [, id, hex] = /^Bearer ([A-Za-z0-9._~-]{1,300})\.([0-9a-f]{64})$/i.exec(header ?? '') ?? [];
  if (id === undefined || hex === undefined) return undefined;
  // In constant time: how much of a guess was right must not show.
  if (!timingSafeEqual(Buffer.from(hex, 'hex'), proofOf(id, secret))) return undefined;
  // An execution's id has the separator that no chat's id may have.
  return id.includes('~') ? { kind: 'execution', executionId: id } : { kind: 'chat', chatId: id };
}

function proofOf(id: string, secret: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(id).digest();
}
