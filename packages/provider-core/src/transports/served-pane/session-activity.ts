import type { ServedActivity, ServedPane } from '../../spec/served-pane.js';
import type { Clock } from '../../time/clock.js';
import type { SessionActivity } from '../session-transport.js';
import type { ServerConnection } from './server-connection.js';

export interface ActivityParts {
  readonly way: ServedPane;
  readonly connection: ServerConnection;
  readonly nativeSessionId: string;
}

const ACTIVITY_DEADLINE_MS = 3_000;
const SETTLE_MS = 250;
const POLL_MS = 10;

/** What the server says the session is doing; unknown where it does not say. */
export async function askActivity({
  way,
  connection,
  nativeSessionId,
}: ActivityParts): Promise<SessionActivity> {
  try {
    const call = way.protocol.readSession(nativeSessionId);
    const result = await connection.call(call, { deadlineMs: ACTIVITY_DEADLINE_MS });
    return toSessionActivity(way.protocol.readActivity(result));
  } catch {
    return 'unknown';
  }
}

/** The record holds a turn's end a moment before the server calls itself idle. */
export async function askSettledActivity(
  parts: ActivityParts,
  clock: Clock,
): Promise<SessionActivity> {
  const end = clock.monotonicMs() + SETTLE_MS;
  let activity = await askActivity(parts);
  while (activity === 'busy' && clock.monotonicMs() < end) {
    await clock.sleep(POLL_MS);
    activity = await askActivity(parts);
  }
  return activity;
}

/** In the words of the turn machine. */
function toSessionActivity(activity: ServedActivity): SessionActivity {
  return activity === 'unloaded' ? 'unknown' : activity;
}

const WORK_DEADLINE_MS = 1_000;

/** How much of what the session's tools started still runs, by the server's own list. */
export async function countBackgroundWork({
  way,
  connection,
  nativeSessionId,
}: ActivityParts): Promise<number | 'unknown'> {
  try {
    const call = way.protocol.listBackgroundWork(nativeSessionId);
    const result = await connection.call(call, { deadlineMs: WORK_DEADLINE_MS });
    return way.protocol.readBackgroundWork(result).length;
  } catch {
    return 'unknown';
  }
}
