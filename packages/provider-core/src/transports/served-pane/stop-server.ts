import { rm, writeFile } from 'node:fs/promises';
import type { EndProcessesReport } from '../../state/process-tree.js';
import { waitUntil } from '../../time/wait-until.js';
import type { SessionContext } from '../session-transport.js';
import { takeServerLock } from './ensure-server.js';
import {
  listSessionMarks,
  readServerRecord,
  removeDeadStarts,
  serverFiles,
} from './server-files.js';
import { endServerProcesses } from './server-process.js';

/** Stops the server when no session wants it any more; a session that is just being opened keeps it. */
export async function stopUnwantedServer(
  dir: string,
  context: Pick<SessionContext, 'clock'>,
  deadlineMs: number,
): Promise<EndProcessesReport> {
  await using _lock = await waitUntil(() => takeServerLock(dir, context), {
    awaiting: 'the right to stop the server',
    deadlineMs,
    clock: context.clock,
    layer: 'served-pane',
  });
  const { stopping, record: recordFile, pid } = serverFiles(dir);
  const record = await readServerRecord(dir);
  if (!record) return NOTHING;
  // Said before the marks are counted: whoever opens a session marks it first and then looks here.
  await writeFile(stopping, '', { mode: 0o600 });
  try {
    await removeDeadStarts(dir);
    if ((await listSessionMarks(dir)).length > 0) return NOTHING;
    const report = await endServerProcesses(record, { graceMs: deadlineMs, clock: context.clock });
    if (report.left.length > 0) return report;
    for (const path of [record.socketPath, recordFile, pid]) await rm(path, { force: true });
    return report;
  } finally {
    await rm(stopping, { force: true });
  }
}

const NOTHING: EndProcessesReport = { ended: 0, left: [] };
