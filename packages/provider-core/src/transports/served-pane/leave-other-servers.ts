import type { OpenParts } from './open-served-session.js';
import { releaseSession } from './release-session.js';
import { listServerDirs, readSessionMark } from './server-files.js';
import { planServerPlace } from './server-place.js';

/** A changed environment or endpoint means another server: the one that still has the session lets go of it. */
export async function leaveOtherServers(parts: OpenParts, nativeSessionId: string): Promise<void> {
  const { way, context, request } = parts;
  const { dir: own } = planServerPlace(way, context);
  for (const dir of await listServerDirs(context.stateDir)) {
    if (dir === own || !(await readSessionMark(dir, nativeSessionId))) continue;
    await releaseSession({ way, context, dir, nativeSessionId, deadlineMs: request.deadlineMs });
  }
}
