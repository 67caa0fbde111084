import type { ServedPane } from '../../spec/served-pane.js';
import type { SessionOwner } from '../../spec/turn.js';
import type { SessionContext, SessionTransport } from '../session-transport.js';
import { endSession } from './end-session.js';
import { findWriter } from './find-writer.js';
import { observeSession } from './observe-session.js';
import { openServedSession } from './open-served-session.js';
import { listServerDirs, readServerRecord } from './server-files.js';
import { isOfServer } from './server-process.js';
import { readSessionRecord } from './session-record.js';
import { DEFAULT_WATCHDOG_TIMES, type WatchdogTimes } from './watchdog-script.js';

/** Drives a CLI through a server of its own, with a pane that only shows. */
export function createServedPaneTransport(
  way: ServedPane,
  times: WatchdogTimes = DEFAULT_WATCHDOG_TIMES,
): SessionTransport {
  return {
    // The pane only shows: with it and without it, one server holds the session.
    processes: 'served',
    observe: (context) => observeSession(way, context),
    readRecord: (context, since) => readSessionRecord(way, context, since),
    findForeignOwner: (context) => findForeignOwner(way, context),
    findRefusal: async (_context, text, images) => way.findRefusal(text, images),
    open: (context, request) => openServedSession({ way, times, context, request }),
    end: (context, request) => endSession(way, times, context, request),
  };
}

/** Who holds the provider's own lock on the session, unless it is a server of ours. */
async function findForeignOwner(
  way: ServedPane,
  context: SessionContext,
): Promise<SessionOwner | undefined> {
  const writer = await findWriter(way, context, async (pid) => {
    for (const dir of await listServerDirs(context.stateDir)) {
      const record = await readServerRecord(dir);
      if (record && (await isOfServer(record, pid))) return true;
    }
    return false;
  });
  return writer && { kind: 'foreign', pid: writer.pid };
}
