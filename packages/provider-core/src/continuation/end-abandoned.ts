import { readLaunchRecord } from '../state/launch-record.js';
import { readStartRecord } from '../state/start-record.js';
import { stateLayout } from '../state/state-layout.js';
import type { Preflight } from './preflight.js';
import { makeSession } from './resolve-session.js';
import type { StartParts } from './start-session.js';

/**
 * Ends what is kept for the sessions that earlier tries of a start gave up, such as the mark that keeps a server alive: none of
 * them ever held a message, and nobody else knows of them. Done twice, nothing more is ended.
 */
export async function endAbandoned(
  { definition, config, live, options }: StartParts,
  found: Preflight,
): Promise<void> {
  const layout = stateLayout(options.stateDir);
  const start = await readStartRecord(layout, live.turnId);
  for (const nativeSessionId of start?.abandonedNativeIds ?? []) {
    try {
      const record = await readLaunchRecord(layout, definition.id, nativeSessionId);
      if (!record) continue;
      const session = makeSession(
        definition,
        layout,
        found,
        { ...record, config },
        undefined,
        options,
      );
      const end = { archive: false, deadlineMs: options.limits.openMs };
      await session.transport.end(session.context(), end);
    } catch (error) {
      // The turn goes on without it: what is left ends by itself once nobody used it for long.
      options.logger.warn(
        { turn_id: live.turnId, err: error },
        'session of an earlier try not ended',
      );
    }
  }
}
