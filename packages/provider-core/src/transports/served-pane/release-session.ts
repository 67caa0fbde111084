import type { ServedPane } from '../../spec/served-pane.js';
import type { EndProcessesReport } from '../../state/process-tree.js';
import { waitUntil } from '../../time/wait-until.js';
import { JsonRpcRefusal } from '../json-rpc/json-rpc-error.js';
import type { SessionContext } from '../session-transport.js';
import { connectToServer } from './connect-to-server.js';
import { findRunningTurn } from './find-running-turn.js';
import type { ServerConnection } from './server-connection.js';
import {
  listSessionMarks,
  readServerRecord,
  readSessionMark,
  removeSessionMark,
  saveSessionMark,
} from './server-files.js';
import { endServerProcesses, observeServer } from './server-process.js';
import type { ServerRecord } from './server-record.wire.js';
import { stopUnwantedServer } from './stop-server.js';

export interface ReleaseRequest {
  readonly way: ServedPane;
  readonly context: SessionContext;
  /** The folder of the server that has the session. */
  readonly dir: string;
  readonly nativeSessionId: string;
  readonly deadlineMs: number;
}

/**
 * Takes the session out of its server: its turn is interrupted, what it started is ended. The last session takes the
 * server with it, and so does a server that does not answer: whatever else it runs is lost to everybody.
 */
export async function releaseSession(request: ReleaseRequest): Promise<EndProcessesReport> {
  const { dir, nativeSessionId, context, deadlineMs } = request;
  const record = await readServerRecord(dir);
  const isAlive = record !== undefined && observeServer(record) !== 'dead';
  const hasLetGo = !isAlive || !record.server || (await letGo(request, record));
  await removeSessionMark(dir, nativeSessionId);
  const graceMs = Math.min(FORCED_GRACE_MS, deadlineMs);
  const forced = hasLetGo
    ? NOTHING
    : await endServerProcesses(record, { graceMs, clock: context.clock });
  const stopped = await stopUnwantedServer(dir, context, deadlineMs);
  return { ended: forced.ended + stopped.ended, left: [...forced.left, ...stopped.left] };
}

const NOTHING: EndProcessesReport = { ended: 0, left: [] };
const FORCED_GRACE_MS = 1_000;

/** False when the server did not let go of the session in time. */
async function letGo(request: ReleaseRequest, record: ServerRecord): Promise<boolean> {
  const { way, context, dir, nativeSessionId, deadlineMs } = request;
  try {
    using connection = await connectToServer(way, record, { deadlineMs });
    connection.forgetServed(nativeSessionId);
    await interruptRunning(request, connection);
    const others = (await listSessionMarks(dir)).filter((id) => id !== nativeSessionId);
    if (others.length > 0) await unload(request, connection);
    return true;
  } catch (error) {
    context.logger.warn({ err: error }, 'session ended by force');
    return false;
  }
}

/** An interrupted turn is recorded as such; a killed one is not. */
async function interruptRunning(
  { way, context, nativeSessionId, deadlineMs }: ReleaseRequest,
  connection: ServerConnection,
): Promise<void> {
  const { protocol } = way;
  const limits = { deadlineMs };
  try {
    const turnId = await findRunningTurn({ way, connection, nativeSessionId }, limits);
    if (turnId === undefined) return;
    await connection.call(protocol.interrupt(nativeSessionId, turnId), limits);
    await waitUntil(
      async () => {
        const status = await connection.call(protocol.readSession(nativeSessionId), limits);
        return !['busy', 'waiting'].includes(protocol.readActivity(status));
      },
      { awaiting: 'the interrupted turn', ...limits, clock: context.clock, layer: 'served-pane' },
    );
  } catch (error) {
    // One that is not loaded runs nothing.
    if (!(error instanceof JsonRpcRefusal)) throw error;
  }
}

/** Archiving is what unloads a session and ends what it started; it comes out of the archive at once. */
async function unload(
  { way, dir, nativeSessionId, deadlineMs }: ReleaseRequest,
  connection: ServerConnection,
): Promise<void> {
  const mark = await readSessionMark(dir, nativeSessionId);
  // On disk first: whoever finds it archived after a crash knows that nobody asked for it.
  await saveSessionMark(dir, { ...(mark ?? { nativeSessionId }), unloading: true });
  try {
    await connection.call(way.protocol.archive(nativeSessionId), { deadlineMs });
    await connection.call(way.protocol.unarchive(nativeSessionId), { deadlineMs });
  } catch (error) {
    if (!(error instanceof JsonRpcRefusal)) throw error;
  }
}
