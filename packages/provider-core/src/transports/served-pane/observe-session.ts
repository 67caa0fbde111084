import type { ServedPane } from '../../spec/served-pane.js';
import type { ProcessObservation, SessionContext } from '../session-transport.js';
import { connectToServer } from './connect-to-server.js';
import { isNobodyThere } from './ensure-server.js';
import { listServerDirs, readServerRecord, readSessionMark } from './server-files.js';
import { observeServer } from './server-process.js';
import type { ServerRecord } from './server-record.wire.js';
import { findShownPane } from './shown-pane.js';

const OBSERVE_DEADLINE_MS = 5_000;

/** Looks whether a server of ours has the session loaded. Starts nothing. */
export async function observeSession(
  way: ServedPane,
  context: SessionContext,
): Promise<ProcessObservation> {
  const { nativeSessionId, stateDir } = context;
  if (nativeSessionId === undefined) return { state: 'gone' };
  let observed: ProcessObservation = { state: 'gone' };
  for (const dir of await listServerDirs(stateDir)) {
    if (!(await readSessionMark(dir, nativeSessionId))) continue;
    const record = await readServerRecord(dir);
    if (!record) continue;
    const found = await observeOnServer(way, context, record, nativeSessionId);
    if (found.state === 'alive') return found;
    if (found.state === 'unknown') observed = found;
  }
  return observed;
}

async function observeOnServer(
  way: ServedPane,
  context: SessionContext,
  record: ServerRecord,
  nativeSessionId: string,
): Promise<ProcessObservation> {
  const process = observeServer(record);
  if (process === 'dead') return { state: 'gone' };
  if (process === 'unknown')
    return { state: 'unknown', why: 'its server cannot be seen from here' };
  const limits = { deadlineMs: OBSERVE_DEADLINE_MS };
  const { protocol } = way;
  try {
    using connection = await connectToServer(way, record, limits);
    const loaded = protocol.readLoaded(await connection.call(protocol.listLoaded(), limits));
    if (!loaded.includes(nativeSessionId)) return { state: 'gone' };
    const status = await connection.call(protocol.readSession(nativeSessionId), limits);
    const activity = protocol.readActivity(status);
    const pane = await findShownPane(way, context);
    return {
      state: 'alive',
      activity: activity === 'unloaded' ? 'unknown' : activity,
      tmuxSession: pane.state === 'present' ? pane.pane.tmuxSession : undefined,
      pid: record.server?.pid,
    };
  } catch (error) {
    if (isNobodyThere(error) && observeServer(record) === 'dead') return { state: 'gone' };
    const why = error instanceof Error ? error.message : 'its server does not answer';
    return { state: 'unknown', why };
  }
}
