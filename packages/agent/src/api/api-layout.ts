import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';

/** Every path of one API session, below the state directory. */
export interface ApiLayout {
  readonly dir: string;
  readonly transcript: string;
  readonly leaseDir: string;
  /** The events of one turn. */
  readonly turnEvents: (turnId: string) => string;
}

/** The paths of the session with this id. An id that cannot name a folder is spelled so that no two meet. */
export function apiLayout(stateDir: string, sessionId: string): ApiLayout {
  const dir = join(resolve(stateDir), 'api', folderName(sessionId));
  return {
    dir,
    transcript: join(dir, 'transcript.jsonl'),
    leaseDir: join(dir, 'lease'),
    turnEvents: (turnId) => join(dir, 'turns', `${turnId}.events.jsonl`),
  };
}

/** What a folder's name may be long on every system, with room to spare. */
const LONGEST_NAME = 200;

function folderName(sessionId: string): string {
  const name = encodeURIComponent(sessionId.toWellFormed()).replace(/^\.+$/, '%2E$&');
  if (name.length <= LONGEST_NAME && name !== '') return name;
  // No spelled id begins like this: after a percent sign there stand two hexadecimal digits.
  return `%sha256-${createHash('sha256').update(sessionId).digest('hex')}`;
}
