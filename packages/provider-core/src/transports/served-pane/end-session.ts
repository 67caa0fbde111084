import type { ServedPane } from '../../spec/served-pane.js';
import { endProcesses, findProcessesByEnvironment } from '../../state/process-tree.js';
import { JsonRpcRefusal } from '../json-rpc/json-rpc-error.js';
import type { EndReport, EndRequest, SessionContext } from '../session-transport.js';
import { ensureServer } from './ensure-server.js';
import { releaseSession } from './release-session.js';
import { listServerDirs, readSessionMark, saveSessionMark } from './server-files.js';
import { NONCE_VARIABLE } from './server-process.js';
import { closePane } from './shown-pane.js';
import type { WatchdogTimes } from './watchdog-script.js';

/** Ends everything of the session; its server too when no other session wants it. */
export async function endSession(
  way: ServedPane,
  times: WatchdogTimes,
  context: SessionContext,
  { archive, deadlineMs }: EndRequest,
): Promise<EndReport> {
  const { nativeSessionId, clock } = context;
  await closePane(way, context).catch((error: unknown) => {
    context.logger.warn({ err: error }, 'pane not closed');
  });
  let ended = 0;
  const left: number[] = [];
  for (const dir of await listServerDirs(context.stateDir)) {
    if (nativeSessionId === undefined || !(await readSessionMark(dir, nativeSessionId))) continue;
    const report = await releaseSession({ way, context, dir, nativeSessionId, deadlineMs });
    ended += report.ended;
    left.push(...report.left);
  }
  const archived = archive && (await archiveSession(way, times, context, deadlineMs));
  const marked = findProcessesByEnvironment(NONCE_VARIABLE, context.nonce);
  const remains = await endProcesses(marked, { graceMs: deadlineMs, clock });
  return { ended: ended + remains.ended, left: [...left, ...remains.left], archived };
}

/** The provider archives through a server only, so one is there for as long as it takes. */
async function archiveSession(
  way: ServedPane,
  times: WatchdogTimes,
  context: SessionContext,
  deadlineMs: number,
): Promise<boolean> {
  const { nativeSessionId } = context;
  if (nativeSessionId === undefined) return false;
  const mark = ({ dir }: { readonly dir: string }) => saveSessionMark(dir, { nativeSessionId });
  const server = await ensureServer({ way, context, times, deadlineMs, mark });
  try {
    using connection = server.connection;
    await connection.call(way.protocol.archive(nativeSessionId), { deadlineMs });
    return true;
  } catch (error) {
    // A session that never had a turn has nothing to archive.
    if (error instanceof JsonRpcRefusal) return false;
    throw error;
  } finally {
    const { dir } = server.place;
    await releaseSession({ way, context, dir, nativeSessionId, deadlineMs });
  }
}
