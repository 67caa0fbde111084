import { StaleHandleError } from '../../errors/continuation-error.js';
import {
  CliUnusableError,
  NativeHistoryMissingError,
  StateUnusableError,
} from '../../errors/turn-error.js';
import type { TurnProcess } from '../../spec/turn-process.js';
import { findRecord } from '../served-pane/session-record.js';
import type { OpenRequest, OpenSession, SessionContext } from '../session-transport.js';
import { exchange } from './creation-exchange.js';
import { putAway } from './turn-end.js';
import { TurnProcessSession } from './turn-process-session.js';

/** Opens a session that has a process only while a turn runs: makes the session, or attaches to the turn that runs. */
export async function openTurnSession(
  way: TurnProcess,
  context: SessionContext,
  request: OpenRequest,
): Promise<OpenSession> {
  const { nativeSessionId } = context;
  return nativeSessionId === undefined
    ? createSession(way, context, request)
    : reopenSession(way, { ...context, nativeSessionId }, request);
}

type NamedContext = SessionContext & { readonly nativeSessionId: string };

/** A session without a turn. Nothing was sent when its id is told, and its record is there by then. */
async function createSession(
  way: TurnProcess,
  context: SessionContext,
  request: OpenRequest,
): Promise<OpenSession> {
  const { creation } = way;
  const { deadlineMs, signal } = request;
  const created = await exchange(way, context, { deadlineMs, signal }, async (call) => {
    const id = creation.readNativeSessionId(await call(creation.start(context.config)));
    if (id === undefined) {
      throw new CliUnusableError(
        context.binary,
        'unresponsive',
        'it started a session without telling its id. Nothing was sent.',
      );
    }
    await call(creation.keep(id));
    return id;
  });
  await request.onNativeSession(created);
  return reopenSession(way, { ...context, nativeSessionId: created }, request);
}

async function reopenSession(
  way: TurnProcess,
  context: NamedContext,
  request: OpenRequest,
): Promise<OpenSession> {
  const left = await putAway(way, context);
  const recordPath = await findRecordPath(way, context);
  const recovered = left === 'lost' && context.acknowledged;
  if (recovered) request.emit({ type: 'resuming' });
  return new TurnProcessSession({ way, context, request, recordPath, recovered });
}

/** The CLI begins a new session, silently, where it does not find the one it was asked for. */
async function findRecordPath(way: TurnProcess, context: NamedContext): Promise<string> {
  const { definition, nativeSessionId, acknowledged } = context;
  const place = await findRecord(way, context);
  switch (place.state) {
    case 'found':
      return place.path;
    case 'unreadable':
      throw new StateUnusableError(
        nativeSessionId,
        'unreadable',
        `${place.why}. Nothing was sent.`,
      );
    case 'absent':
      if (!acknowledged) throw new StaleHandleError(definition.id, 'native_session_id');
      throw new NativeHistoryMissingError(nativeSessionId, 'its record was not found');
  }
}
