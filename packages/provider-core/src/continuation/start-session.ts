import { NonApplicableError, StaleHandleError } from '../errors/continuation-error.js';
import { SessionBusyError, StateUnusableError, TurnConflictError } from '../errors/turn-error.js';
import {
  type ConfigOf,
  findModelProvider,
  findProvider,
  type ProviderId,
} from '../providers/registry.js';
import type { ProviderDefinition } from '../spec/provider-definition.js';
import type { SessionConfig } from '../spec/session-config.js';
import type { Message, TurnResult } from '../spec/turn.js';
import { faultPoint } from '../state/fault-point.js';
import { readLaunchRecord } from '../state/launch-record.js';
import { noSignIsEnough } from '../state/lease.js';
import { prepareStateDir } from '../state/prepare-state-dir.js';
import { readStartRecord, type StartRecord, saveStartRecord } from '../state/start-record.js';
import { stateLayout } from '../state/state-layout.js';
import { isoInstant } from '../time/clock.js';
import type { LeaseFence } from '../transports/session-transport.js';
import { beginTurn, type LiveTurn } from './begin-turn.js';
import { digestOf } from './canonical-json.js';
import { checkConfig, checkOptionsTaken } from './check-config.js';
import { wayForMessage } from './choose-way.js';
import { endAbandoned } from './end-abandoned.js';
import { establishSession } from './establish-session.js';
import { beginningOf, newRecord } from './new-record.js';
import {
  checkMessageShape,
  messageDigest,
  type OutgoingMessage,
  outgoingMessage,
} from './outgoing-message.js';
import { type Preflight, preflight } from './preflight.js';
import { makeSession, versionsFile } from './resolve-session.js';
import { runInSession } from './run-in-session.js';
import type { Session } from './session.js';
import { takeLease } from './session-lease.js';
import { stableDigests } from './stable-digests.js';
import type { CodingAgentTurn } from './turn-object.js';
import {
  type ResolvedTurnOptions,
  resolveTurnOptions,
  type TurnOptions,
  turnIdOf,
} from './turn-options.js';

/** A first turn: which provider, how it is driven, what it is launched with, and the message. */
export interface StartRequest<Id extends ProviderId = ProviderId> extends TurnOptions {
  readonly provider: Id;
  readonly config: ConfigOf<Id>;
  readonly message: Message;
}

/**
 * Starts a session with its first message. The same `turnId` finds the same start again, whatever died meanwhile.
 *
 * Rejects with a `CodingAgentTurnError`; throws `TypeError` for wrong arguments.
 */
export function startCodingAgentSession<Id extends ProviderId>(
  request: StartRequest<Id>,
): CodingAgentTurn {
  checkMessageShape(request.message);
  const turnId = turnIdOf(request);
  if (findModelProvider(request.provider)) {
    return beginTurn(turnId, request.signal, async () => {
      throw new NonApplicableError(request.provider);
    });
  }
  const definition = checkStart(request.provider, request.config);
  const options = resolveTurnOptions(request);
  return beginTurn(turnId, request.signal, async (live) => {
    const message = outgoingMessage(request.message);
    const { root: stateDir } = await prepareStateDir(options.stateDir);
    const placed = once({ ...options, stateDir });
    return startSession({ definition, config: request.config, message, live, options: placed });
  });
}

function checkStart(provider: string, config: SessionConfig): ProviderDefinition {
  const definition = findProvider(provider);
  if (!definition) throw new TypeError(`No provider ${JSON.stringify(provider)} is registered.`);
  checkConfig(config);
  checkOptionsTaken(definition, config);
  return definition;
}

/** A start may open twice, to learn the native id and to send; the caller's claim is made once. */
function once(options: ResolvedTurnOptions): ResolvedTurnOptions {
  let claim: Promise<void> | undefined;
  return {
    ...options,
    onBeforeNativeChange: (change) => {
      claim ??= Promise.resolve(options.onBeforeNativeChange(change));
      return claim;
    },
  };
}

/** What a start works with. */
export interface StartParts {
  readonly definition: ProviderDefinition;
  readonly config: SessionConfig;
  readonly message: OutgoingMessage;
  readonly live: LiveTurn;
  readonly options: ResolvedTurnOptions;
  /** The right to say which session this start made. */
  readonly fence: LeaseFence;
}

async function startSession(request: Omit<StartParts, 'fence'>): Promise<TurnResult> {
  const { definition, config, message, live, options } = request;
  const layout = stateLayout(options.stateDir);
  const found = await preflight(definition, config, versionsFile(layout));
  await using fence = await takeLease(
    layout.startLeaseDir(live.turnId),
    options,
    live.interrupted,
    noSignIsEnough,
  );
  const parts: StartParts = { ...request, fence };
  const start = await findOrSaveStart(parts, found);
  const session =
    (await findStarted(parts, start, found)) ?? (await establishSession(parts, start, found));
  // Only a start that was tried before may have given one up.
  if (start.nativeSessionId !== undefined) await endAbandoned(parts, found);
  live.knowHandle(session.handle());
  try {
    return await runInSession({ session, message, live, options, expectsLive: false });
  } catch (error) {
    const isNewId = error instanceof StaleHandleError && error.changedField === 'native_session_id';
    if (!isNewId || session.record.acknowledged || !(await isForgotten(session))) throw error;
    // The provider forgot a session that never held a message: nothing is lost by beginning anew.
    const again = await establishSession(parts, start, found);
    await endAbandoned(parts, found);
    return await runInSession({ session: again, message, live, options, expectsLive: false });
  }
}

async function findOrSaveStart(
  { definition, config, message, live, options }: StartParts,
  found: Preflight,
): Promise<StartRecord> {
  const layout = stateLayout(options.stateDir);
  const digest = messageDigest(message);
  const configDigest = digestOf(
    stableDigests(definition.id, config, definition.capabilities.stableFields),
  );
  const known = await readStartRecord(layout, live.turnId);
  if (known) {
    const isSame = known.messageDigest === digest && known.configDigest === configDigest;
    if (!isSame || known.provider !== definition.id) throw new TurnConflictError(live.turnId);
    return known;
  }
  // Before anything is written or started for it.
  const unnamed = newRecord(
    definition,
    config,
    found,
    await beginningOf(definition, config, options),
  );
  const session = makeSession(definition, layout, found, unnamed, undefined, options);
  await wayForMessage(session, options.transport ?? 'auto', message);
  const start: StartRecord = {
    turnId: live.turnId,
    messageDigest: digest,
    provider: definition.id,
    configDigest,
    abandonedNativeIds: [],
    createdAt: isoInstant(options.clock),
  };
  await saveStartRecord(layout, start);
  faultPoint('start_recorded');
  return start;
}

/** The session an earlier try of this start made, unless its provider has lost it before it held a message. */
async function findStarted(
  { definition, live, options, config }: StartParts,
  start: StartRecord,
  found: Preflight,
): Promise<Session | undefined> {
  if (start.nativeSessionId === undefined) return undefined;
  const layout = stateLayout(options.stateDir);
  const record = await readLaunchRecord(layout, definition.id, start.nativeSessionId);
  if (!record) throw lostSession(layout.launchRecord(definition.id, start.nativeSessionId));
  const session = makeSession(definition, layout, found, { ...record, config }, undefined, options);
  if (record.acknowledged || !(await isForgotten(session))) return session;
  options.logger.info({ turn_id: live.turnId }, 'start begun anew');
  return undefined;
}

/** The start names its session only after the session's record is on disk: without one, unknown is what was sent. */
function lostSession(path: string): StateUnusableError {
  return new StateUnusableError(
    path,
    'damaged',
    'this turn started a session whose launch record is gone, so that what was delivered is not known. Nothing was sent; use a new turnId.',
  );
}

async function isForgotten(session: Session): Promise<boolean> {
  if (session.definition.nativeIdChosenBy === 'us') return false;
  const context = session.context();
  const observed = await session.observe();
  if (observed.state === 'unknown') throw new SessionBusyError({ kind: 'foreign' });
  if (observed.state === 'alive') return false;
  return (await session.transport.readRecord(context, undefined)).state === 'absent';
}
