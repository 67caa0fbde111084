import type { ServedPane } from '../../spec/served-pane.js';
import type { EndProcessesReport } from '../../state/process-tree.js';
import { waitUntil } from '../../time/wait-until.js';
import { JsonRpcRefusal } from '../json-rpc/json-rpc-error.js';
import type { SessionContext } from '../session-transport.js';
import { connectToServer, type ServerConnection } from './server-connection.js';
import {
  listSessionMarks,
  readServerRecord,
  readSessionMark,
  removeSessionMark,
  saveSessionMark,
} from './server-files.js';
import { observeServer } from './server-process.js';
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
 * server with it.
 */
export async function releaseSession(request: ReleaseRequest): Promise<EndProcessesReport> {
  const { dir, nativeSessionId, context, deadlineMs } = request;
  const record = await readServerRecord(dir);
  const isAlive = record !== undefined && observeServer(record) !== 'dead';
  if (isAlive && record.server) {
    using connection = await connectToServer(request.way, context, record.socketPath, {
      deadlineMs,
    });
    await interruptRunning(request, connection);
    const others = (await listSessionMarks(dir)).filter((id) => id !== nativeSessionId);
    if (others.length > 0) await unload(request, connection);
  }
  await removeSessionMark(dir, nativeSessionId);
  return stopUnwantedServer(dir, context, deadlineMs);
}

/** An interrupted turn is recorded as such; a killed one is not. */
async function interruptRunning(
  { way, context, nativeSessionId, deadlineMs }: ReleaseRequest,
  connection: ServerConnection,
): Promise<void> {
  const { protocol } = way;
  const limits = { deadlineMs };
  try {
    const turns = protocol.readTurns(
      await connection.call(protocol.listTurns(nativeSessionId), limits),
    );
    const running = turns.find((turn) => turn.isRunning);
    if (!running) return;
    await connection.call(protocol.interrupt(nativeSessionId, running.nativeTurnId), limits);
    await waitUntil(
      async () => {
        const status = await connection.call(protocol.readSession(nativeSessionId), limits);
        return !['busy', 'waiting'].includes(protocol.readActivity(status));
      },
      { awaiting: 'the interrupted turn', ...limits, clock: context.clock, layer: 'served-pane' },
    );
  } catch (error) {
    // A session without a turn has no list of turns, and one that is not loaded runs nothing.
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
