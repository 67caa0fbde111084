import type { SessionOwner } from '../../spec/turn.js';
import { findProcessesByEnvironment } from '../../state/process-tree.js';
import type { SessionContext } from '../session-transport.js';
import { findWriter } from './find-writer.js';
import { listServerDirs, readServerRecord } from './server-files.js';
import { isOfServer, NONCE_VARIABLE } from './server-process.js';
import type { WithRecord } from './session-record.js';

/**
 * Who holds the provider's own lock on the session, unless it is a process of ours: a server that we keep, or one that
 * carries the session's nonce. In whatever way those serve it, the machine ends them before another way begins.
 */
export async function findForeignWriter(
  way: WithRecord,
  context: SessionContext,
): Promise<SessionOwner | undefined> {
  const writer = await findWriter(way, context, async (pid) => {
    if (findProcessesByEnvironment(NONCE_VARIABLE, context.nonce, [pid]).length > 0) return true;
    for (const dir of await listServerDirs(context.stateDir)) {
      const record = await readServerRecord(dir);
      if (record && (await isOfServer(record, pid))) return true;
    }
    return false;
  });
  return writer && { kind: 'foreign', pid: writer.pid };
}
