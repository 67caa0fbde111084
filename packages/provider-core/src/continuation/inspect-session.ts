import { realpath } from 'node:fs/promises';
import type { Way } from '../spec/capabilities.js';
import type { ProviderDefinition } from '../spec/provider-definition.js';
import type { CodingProviderSessionHandle, HandleStatus } from '../spec/provider-session-handle.js';
import type { SessionOwner } from '../spec/turn.js';
import { readLaunchRecord } from '../state/launch-record.js';
import { readLeaseOwner } from '../state/lease.js';
import { leaseDir, stateLayout } from '../state/state-layout.js';
import { openTurnJournal } from '../state/turn-journal.js';
import type { ProcessObservation, SessionActivity } from '../transports/session-transport.js';
import { decodeHandle } from './decode-handle.js';
import { historyExpiresAt } from './history-expiry.js';
import { newRecord } from './new-record.js';
import { cliHomeOf, preflight } from './preflight.js';
import { checkHandle, makeSession, versionsFile } from './resolve-session.js';
import type { Session } from './session.js';
import { resolveTurnOptions, type TurnOptions } from './turn-options.js';
import { journalState } from './turn-run.js';

/** What can be seen of a session without touching it. */
export interface SessionInspection {
  /** Whether the provider holds the session: three-valued, what cannot be seen is `unknown`. */
  readonly state: 'present' | 'absent' | 'unknown';
  /** What its process is doing; absent when it has none. */
  readonly activity?: SessionActivity | undefined;
  readonly process: 'alive' | 'gone' | 'unknown';
  /** The session was started, but its first message was never taken in. */
  readonly provisional: boolean;
  /** The last turn, when it is not over. */
  readonly openTurnId?: string | undefined;
  /** Who holds the session now. */
  readonly owner?: SessionOwner | undefined;
  /** ISO 8601: from when on the CLI may delete the session by itself; absent where it deletes none. */
  readonly historyExpiresAt?: string | undefined;
  readonly handle: CodingProviderSessionHandle;
}

/** Looks at a session, read-only: starts, changes and sends nothing. */
export async function inspectCodingAgentSession(
  handle: CodingProviderSessionHandle | Readonly<Record<string, unknown>> | string,
  options: Pick<TurnOptions, 'stateDir' | 'logger'> = {},
): Promise<SessionInspection> {
  const { session } = await findSession(handle, options);
  const observed = await session.observe();
  const history = await session.transport.readRecord(session.context(), undefined);
  const openTurnId = await findOpenTurn(session);
  const owner = await findOwner(session);
  const expiresAt = await historyExpiresAt(session);
  return {
    state: presence(observed.state, history.state),
    process: observed.state,
    ...(observed.state === 'alive' ? { activity: observed.activity } : {}),
    provisional: !session.record.acknowledged,
    ...(openTurnId === undefined ? {} : { openTurnId }),
    ...(owner === undefined ? {} : { owner }),
    ...(expiresAt === undefined ? {} : { historyExpiresAt: new Date(expiresAt).toISOString() }),
    handle: { ...session.handle(), status: statusOf(session, observed, owner) },
  };
}

/** A session, and whether there is a launch record of it. */
export interface FoundSession {
  readonly session: Session;
  readonly isRecorded: boolean;
}

/** The session behind a handle, as far as it can be known; with a CLI that is gone from the machine, too. */
export async function findSession(
  handle: CodingProviderSessionHandle | Readonly<Record<string, unknown>> | string,
  options: Pick<TurnOptions, 'stateDir' | 'logger'>,
): Promise<FoundSession> {
  const resolved = resolveTurnOptions(options);
  const { definition, handle: decoded, nativeSessionId } = checkHandle(decodeHandle(handle));
  // As a turn sees it: two spellings of the directory share one socket.
  const layout = stateLayout(await realpath(resolved.stateDir).catch(() => resolved.stateDir));
  const stored = await readLaunchRecord(layout, definition.id, nativeSessionId);
  const config = stored?.config ?? { workingDir: decoded.workingDir ?? '/' };
  const cliHome = stored?.cliHome ?? cliHomeOf(definition, config);
  const found = await preflight(definition, { ...config, cliHome }, versionsFile(layout)).catch(
    () => ({
      binary: '',
      cliVersion: stored?.cliVersion ?? definition.minimumVersion,
      cliHome,
    }),
  );
  const record = stored ?? {
    ...newRecord(definition, config, found, {
      at: '',
      ways: [wayOf(definition, decoded)],
      choice: 'auto',
    }),
    nativeSessionId,
    acknowledged: true,
  };
  const session = makeSession(definition, layout, { ...found, cliHome }, record, decoded, resolved);
  return { session, isRecorded: stored !== undefined };
}

/** Where a handle's session would be looked for, on a machine that knows nothing else of it. */
function wayOf(
  { transports }: ProviderDefinition,
  { transport }: CodingProviderSessionHandle,
): Way {
  if (transport === 'tmux') return 'tmux';
  return transports.structured ? 'structured' : 'per_turn';
}

function presence(
  process: 'alive' | 'gone' | 'unknown',
  history: 'readable' | 'absent' | 'untrustworthy',
): SessionInspection['state'] {
  if (history === 'readable' || process === 'alive') return 'present';
  return history === 'absent' && process === 'gone' ? 'absent' : 'unknown';
}

/** What the record says may be older than its owner's end. */
function statusOf(
  { record, way }: Session,
  observed: ProcessObservation,
  owner: SessionOwner | undefined,
): HandleStatus {
  if (observed.state === 'unknown') return record.status;
  if (observed.state === 'gone') {
    // Where each turn has a process of its own, none between two turns is no loss.
    const isResting = way === 'per_turn' && record.status === 'idle';
    return record.status === 'closed' || isResting ? record.status : 'lost';
  }
  if (observed.activity === 'unknown' || owner?.kind === 'ours') return record.status;
  return observed.activity === 'idle' ? 'idle' : 'active';
}

async function findOpenTurn(session: Session): Promise<string | undefined> {
  const { lastTurnId } = session.record;
  if (lastTurnId === undefined) return undefined;
  const path = session.layout.turnJournal(
    session.definition.id,
    session.nativeSessionId,
    lastTurnId,
  );
  const { entries } = await openTurnJournal(path);
  const state = journalState(entries);
  return state === 'submitting' || state === 'accepted' ? lastTurnId : undefined;
}

async function findOwner(session: Session): Promise<SessionOwner | undefined> {
  const lease = await readLeaseOwner(leaseDir(session.record.cliHome, session.nativeSessionId));
  if (lease.state === 'held') {
    const { pid, hostId, since } = lease.owner;
    return { kind: 'ours', pid, hostId, since };
  }
  const foreign = await session.transport.findForeignOwner(session.context());
  return foreign === 'unknown' ? { kind: 'foreign' } : foreign;
}
