import { randomBytes } from 'node:crypto';
import type { Clock } from '@holdfast/agent';

const NIL = '00000000-0000-0000-0000-000000000000';

/** Whether a text is a UUID of any version, and not the nil one. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) && text !== NIL;
}

/** A new UUID of version 7. Its time is for people; that it is fresh rests on 74 random bits. */
export function mintUuidV7(clock: Clock): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Math.max(0, Math.trunc(clock.now())), 0, 6);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ]
    .map(([from, to]) => hex.slice(from, to))
    .join('-');
}
