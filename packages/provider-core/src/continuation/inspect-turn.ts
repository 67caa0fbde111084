import type { CodingProviderSessionHandle } from '../spec/provider-session-handle.js';
import { readLeaseOwner } from '../state/lease.js';
import { leaseDir } from '../state/state-layout.js';
import { openTurnJournal, type TurnJournal } from '../state/turn-journal.js';
import type { RecordReading } from '../transports/session-transport.js';
import type { JournalState } from './decide-after-crash.js';
import { findSession } from './inspect-session.js';
import type { Session } from './session.js';
import type { TurnOptions } from './turn-options.js';
import { journalState, lastEntry } from './turn-run.js';

/** What is proven of one turn of a session. */
export interface TurnInspection {
  /** `none`: nothing of it was taken in, and nothing that is left could still bring it; what cannot be told is `unknown`. */
  readonly turn: 'none' | 'taken' | 'unknown';
  /** How far our journal says that it came. */
  readonly journal: JournalState;
  /** What the provider's own record holds behind the place where the message would stand. */
  readonly record: 'no_message' | 'message' | 'absent' | 'untrustworthy';
  readonly process: 'alive' | 'gone' | 'unknown';
  /** Whether somebody living may still drive the session. */
  readonly isOwned: boolean;
}

/** Asks journal, provider's record and process for one turn, read-only: starts, changes and sends nothing. */
export async function inspectCodingAgentTurn(
  handle: CodingProviderSessionHandle | Readonly<Record<string, unknown>> | string,
  turnId: string,
  options: Pick<TurnOptions, 'stateDir' | 'logger'> = {},
): Promise<TurnInspection> {
  const { session, isRecorded } = await findSession(handle, options);
  const seen = await observeTurn(session, turnId);
  // Without a launch record the journals are elsewhere too.
  return { turn: isRecorded ? judgeTurn(seen) : 'unknown', ...withoutBarrier(seen) };
}

/** All that the judgement rests on. */
export interface ObservedTurn extends Omit<TurnInspection, 'turn'> {
  /** A message is in the record before anything comes of it. */
  readonly durableBeforeTools: boolean;
}

/** The judgement, total: what it does not name is unknown. */
export function judgeTurn(seen: ObservedTurn): TurnInspection['turn'] {
  const { journal, record, process, isOwned, durableBeforeTools } = seen;
  if (journal === 'accepted' || journal === 'ended' || record === 'message') return 'taken';
  if (isOwned) return 'unknown';
  // The journal is on the disk before the first byte leaves.
  if (journal === 'none' || journal === 'prepared') return 'none';
  if (record === 'untrustworthy' || process !== 'gone') return 'unknown';
  return durableBeforeTools ? 'none' : 'unknown';
}

async function observeTurn(session: Session, turnId: string): Promise<ObservedTurn> {
  const { layout, definition, nativeSessionId, capabilities } = session;
  const owner = await readLeaseOwner(leaseDir(session.record.cliHome, nativeSessionId));
  const journal = await openTurnJournal(layout.turnJournal(definition.id, nativeSessionId, turnId));
  const submitted = lastEntry(journal.entries, 'submitting');
  if (submitted) session.useWay(submitted.way ?? 'tmux');
  // The process first: a record read before its writer died could miss the writer's last words.
  const observed = await session.observe();
  return {
    journal: journalState(journal.entries),
    record: await readRecordOf(session, submitted?.cursor),
    process: observed.state,
    isOwned: owner.state !== 'free',
    durableBeforeTools: capabilities.durableBeforeTools,
  };
}

type Cursor = Extract<TurnJournal['entries'][number], { readonly step: 'submitting' }>['cursor'];

/** Without a cursor nothing was sent, and nothing is looked for. */
async function readRecordOf(
  session: Session,
  cursor: Cursor | undefined,
): Promise<TurnInspection['record']> {
  const reading = await session.transport.readRecord(session.context(), cursor);
  if (reading.state === 'readable')
    return cursor && holdsMessage(reading) ? 'message' : 'no_message';
  if (reading.state === 'untrustworthy') return 'untrustworthy';
  // A record that was there and is gone tells nothing.
  return cursor?.path === undefined ? 'absent' : 'untrustworthy';
}

/** Any message of a user behind the cursor counts as ours: nobody else was to write there. */
function holdsMessage({ events }: Extract<RecordReading, { readonly state: 'readable' }>): boolean {
  return events.some((event) => event.type === 'message_accepted' && event.origin === 'user');
}

function withoutBarrier({ durableBeforeTools: _claim, ...seen }: ObservedTurn) {
  return seen;
}
