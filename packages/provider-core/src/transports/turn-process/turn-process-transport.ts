import type { TurnProcess } from '../../spec/turn-process.js';
import { endProcesses } from '../../state/process-tree.js';
import { findForeignWriter } from '../served-pane/find-foreign-writer.js';
import { readSessionRecord } from '../served-pane/session-record.js';
import type {
  EndReport,
  EndRequest,
  ProcessObservation,
  SessionContext,
  SessionTransport,
} from '../session-transport.js';
import { exchange } from './creation-exchange.js';
import { openTurnSession } from './open-turn-session.js';
import {
  listTurnProcesses,
  observeTurnProcess,
  readProcessRecord,
  removeProcessRecord,
} from './process-record.js';
import { removeHomeFiles } from './start-turn.js';
import { hasTurnEnded } from './turn-end.js';

/** Drives any CLI that is declared as a {@link TurnProcess}: a process a turn, and its own record for all that it says. */
export function createTurnProcessTransport(way: TurnProcess): SessionTransport {
  return {
    observe: (context) => observeTurn(way, context),
    readRecord: (context, since) => readSessionRecord(way, context, since),
    findForeignOwner: (context) => findForeignWriter(way, context),
    findRefusal: async (_context, text, images) => way.findRefusal(text, images),
    open: (context, request) => openTurnSession(way, context, request),
    end: (context, request) => endTurnProcess(way, context, request),
  };
}

/** Between turns there is no process, and that is no loss. */
async function observeTurn(way: TurnProcess, context: SessionContext): Promise<ProcessObservation> {
  const record = await readProcessRecord(context.filesDir);
  if (!record) return { state: 'gone' };
  switch (observeTurnProcess(record)) {
    case 'dead':
      return { state: 'gone' };
    case 'unknown':
      return { state: 'unknown', why: 'the process of its turn cannot be seen from here' };
    case 'alive': {
      const activity = (await hasTurnEnded(way, context, record)) ? 'idle' : 'busy';
      return { state: 'alive', activity, pid: record.process?.pid };
    }
  }
}

async function endTurnProcess(
  way: TurnProcess,
  context: SessionContext,
  { archive, deadlineMs }: EndRequest,
): Promise<EndReport> {
  const { clock, filesDir, nativeSessionId } = context;
  const record = await readProcessRecord(filesDir);
  const processes = record ? listTurnProcesses(record, context) : [];
  const { ended, left } = await endProcesses(processes, { graceMs: deadlineMs, clock });
  if (left.length === 0) {
    await removeProcessRecord(filesDir);
    await removeHomeFiles(way, context);
  }
  const archived =
    archive && nativeSessionId !== undefined && (await archiveSession(way, context, deadlineMs));
  return { ended, left, archived };
}

async function archiveSession(
  way: TurnProcess,
  context: SessionContext & { readonly nativeSessionId?: string | undefined },
  deadlineMs: number,
): Promise<boolean> {
  const { nativeSessionId } = context;
  if (nativeSessionId === undefined) return false;
  await exchange(way, context, { deadlineMs }, (call) =>
    call(way.creation.archive(nativeSessionId)),
  );
  return true;
}
