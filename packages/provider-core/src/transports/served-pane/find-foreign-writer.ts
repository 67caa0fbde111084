import type { SessionOwner } from '../../spec/turn.js';
import { findProcessesByEnvironment } from '../../state/process-tree.js';
import type { SessionContext } from '../session-transport.js';
import { findWriter, findWriterLock, holdsWriterLock } from './find-writer.js';
import { listServerDirs, readServerRecord } from './server-files.js';
import { isOfServer, NONCE_VARIABLE, observeServer } from './server-process.js';
import type { ServerRecord } from './server-record.wire.js';
import type { WithRecord } from './session-record.js';

/**
 * Who holds the provider's own lock on the session, unless it is a process of ours: a server that we keep, or one that
 * carries the session's nonce. In whatever way those serve it, the machine ends them before another way begins.
 */
export async function findForeignWriter(
  way: WithRecord,
  context: SessionContext,
): Promise<SessionOwner | undefined> {
  const lock = await findWriterLock(way, context);
  if (!lock) return undefined;
  const servers = await listServers(context);
  // One process alone can hold it: where it is a server of ours, nobody else has to be looked for.
  for (const record of servers) {
    if (observeServer(record) !== 'alive' || !record.server) continue;
    if (holdsWriterLock(record.server.pid, lock)) return undefined;
  }
  const writer = await findWriter(way, context, async (pid) => {
    if (findProcessesByEnvironment(NONCE_VARIABLE, context.nonce, [pid]).length > 0) return true;
    for (const record of servers) if (await isOfServer(record, pid)) return true;
    return false;
  });
  return writer && { kind: 'foreign', pid: writer.pid };
}

async function listServers({ stateDir }: SessionContext): Promise<readonly ServerRecord[]> {
  const dirs = await listServerDirs(stateDir);
  const records = await Promise.all(dirs.map((dir) => readServerRecord(dir)));
  return records.filter((record) => record !== undefined);
}
