import { createHash, randomUUID } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The caller's idempotency key, or a new one. Anything but a UUID is a TypeError. */
export function readTurnId(turnId: string | undefined): string {
  if (turnId === undefined) return randomUUID();
  if (typeof turnId !== 'string' || !UUID.test(turnId)) {
    throw new TypeError(`turnId must be a UUID, not ${JSON.stringify(turnId)}.`);
  }
  return turnId.toLowerCase();
}

/** The id of one earlier message of a call; the same for the same call, so that a retry finds its turn. */
export function deriveTurnId(turnId: string, messageIndex: number): string {
  const hex = createHash('sha256').update(`${turnId}/${messageIndex}`).digest('hex');
  // Version 8 is the UUID version for ids of one's own making.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
