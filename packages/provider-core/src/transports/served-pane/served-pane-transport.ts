import type { ServedPane } from '../../spec/served-pane.js';
import type { SessionTransport } from '../session-transport.js';
import { endSession } from './end-session.js';
import { findForeignWriter } from './find-foreign-writer.js';
import { observeSession } from './observe-session.js';
import { openServedSession } from './open-served-session.js';
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
    findForeignOwner: (context) => findForeignWriter(way, context),
    findRefusal: async (_context, text, images) => way.findRefusal(text, images),
    open: (context, request) => openServedSession({ way, times, context, request }),
    end: (context, request) => endSession(way, times, context, request),
  };
}
