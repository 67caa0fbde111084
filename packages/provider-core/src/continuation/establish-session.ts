import { faultPoint } from '../state/fault-point.js';
import { type LaunchRecord, saveLaunchRecord } from '../state/launch-record.js';
import { ensurePrivateDir } from '../state/private-dir.js';
import { type StartRecord, saveStartRecord } from '../state/start-record.js';
import { stateLayout } from '../state/state-layout.js';
import { wayForMessage } from './choose-way.js';
import { refuseFenced } from './fenced-journal.js';
import { beginningOf, newRecord, transportName } from './new-record.js';
import type { Preflight } from './preflight.js';
import { makeSession } from './resolve-session.js';
import type { Session } from './session.js';
import type { StartParts } from './start-session.js';

/** Gives a start its native session: an id of ours, or the one the provider tells. On disk before anything is sent. */
export async function establishSession(
  parts: StartParts,
  start: StartRecord,
  found: Preflight,
): Promise<Session> {
  const { definition, config, live, options } = parts;
  const layout = stateLayout(options.stateDir);
  const beginning = await beginningOf(definition, config, options);
  const unnamed = newRecord(definition, config, found, beginning);
  const way = await wayForMessage(
    makeSession(definition, layout, found, unnamed, undefined, options),
    beginning.choice,
    parts.message,
  );
  const record: LaunchRecord = { ...unnamed, ways: [way], transport: transportName(way) };
  const save = async (nativeSessionId: string): Promise<Session> => {
    const known = { ...record, nativeSessionId };
    refuseFenced(parts.fence);
    await saveLaunchRecord(layout, known);
    await saveStartRecord(layout, {
      ...start,
      nativeSessionId,
      abandonedNativeIds: abandonedIds(start, nativeSessionId),
    });
    faultPoint('native_session_known');
    const session = makeSession(definition, layout, found, known, undefined, options);
    live.publishHandle(session.handle());
    return session;
  };
  if (definition.nativeIdChosenBy === 'us') return save(crypto.randomUUID());
  return askProviderForId(
    parts,
    makeSession(definition, layout, found, record, undefined, options),
    save,
  );
}

function abandonedIds(start: StartRecord, nativeSessionId: string): readonly string[] {
  const { nativeSessionId: old, abandonedNativeIds } = start;
  return old === undefined || old === nativeSessionId
    ? abandonedNativeIds
    : [...abandonedNativeIds, old];
}

async function askProviderForId(
  { live, options }: StartParts,
  unnamed: Session,
  save: (nativeSessionId: string) => Promise<Session>,
): Promise<Session> {
  await options.onBeforeNativeChange({ turnId: live.turnId });
  // Nothing is started for a turn that is over already.
  live.interrupted.throwIfAborted();
  let named: Session | undefined;
  const context = unnamed.context();
  await ensurePrivateDir(context.filesDir);
  const open = await unnamed.transport.open(context, {
    // Nothing is written through this opening: it only asks for the id.
    fence: { token: 0, isCurrent: () => true },
    finishInterruptedTurn: false,
    emit: live.emit,
    expectsLive: false,
    onNativeSession: async (nativeSessionId) => {
      named = await save(nativeSessionId);
    },
    deadlineMs: options.limits.openMs,
    signal: live.interrupted,
    answersRequests: false,
  });
  await open[Symbol.asyncDispose]();
  return named ?? save(open.nativeSessionId);
}
