import type { TypedPane } from '../../spec/typed-pane.js';
import type { SessionTransport } from '../session-transport.js';
import { endTypedSession } from './end-session.js';
import { findRefusal } from './find-refusal.js';
import { findForeignOwner, observeSession } from './observe-session.js';
import { openTypedSession } from './open-typed-session.js';
import { readSessionRecord } from './read-session-record.js';

/** Drives any CLI that is declared as a {@link TypedPane}: types into its pane, believes only its record. */
export function createTypedPaneTransport(way: TypedPane): SessionTransport {
  return {
    observe: (context) => observeSession(way, context),
    readRecord: (context, since) => readSessionRecord(way, context, since),
    findForeignOwner: (context) => findForeignOwner(way, context),
    findRefusal: (context, text) => findRefusal(way, context, text),
    open: (context, request) => openTypedSession(way, context, request),
    end: (context, request) => endTypedSession(way, context, request),
  };
}
