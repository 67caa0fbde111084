import { errorFromJson } from '../errors/error-from-json.js';
import { TurnConflictError } from '../errors/turn-error.js';
import { compareVersions } from '../providers/ways.js';
import type { TurnResult } from '../spec/turn.js';
import { openTurnJournal, type TurnJournal } from '../state/turn-journal.js';
import type { LiveTurn } from './begin-turn.js';
import { wayForMessage } from './choose-way.js';
import { openFencedJournal } from './fenced-journal.js';
import { expiryNotice } from './history-expiry.js';
import { messageDigest, type OutgoingMessage } from './outgoing-message.js';
import { runTurn } from './run-turn.js';
import type { Session } from './session.js';
import { takeSessionLease } from './session-lease.js';
import type { ResolvedTurnOptions } from './turn-options.js';
import { lastEntry } from './turn-run.js';

interface SessionTurn {
  readonly session: Session;
  readonly message: OutgoingMessage;
  readonly live: LiveTurn;
  readonly options: ResolvedTurnOptions;
  readonly expectsLive: boolean;
}

/** Runs one message in a session: replayed when its outcome is final, else under the session's lease. */
export async function runInSession(turn: SessionTurn): Promise<TurnResult> {
  const { session, message, live, options } = turn;
  session.hideFromLogs(message.text);
  const digest = messageDigest(message);
  const paths = turnPaths(session, live.turnId);
  const seen = await openTurnJournal(paths.journal);
  checkSameMessage(seen, live.turnId, digest);
  const replayed = await replay(turn, seen, paths.events);
  if (replayed) return replayed;
  await useWayOf(turn, seen);
  const { revision } = session.record;

  await using lease = await takeSessionLease(session, options, live.interrupted);
  await session.take(lease);
  const journal = await openFencedJournal(paths.journal, lease);
  checkSameMessage(journal, live.turnId, digest);
  const outcome = await replay(turn, journal, paths.events);
  if (outcome) return outcome;
  // Chosen anew where another owner came between: session and turn are what they were else.
  const isAsSeen =
    session.record.revision === revision && journal.entries.length === seen.entries.length;
  if (!isAsSeen) await useWayOf(turn, journal);
  await live.attachEvents(paths.events, { replay: false });
  live.publishHandle(session.handle());
  await giveNotices(turn);
  // Awaited here: the lease must be held until the turn is over.
  return await runTurn({
    session,
    journal,
    fence: lease,
    message: { ...message, turnId: live.turnId },
    messageDigest: digest,
    options,
    emit: live.emit,
    steering: live.steering,
    trace: live.trace,
    interrupted: live.interrupted,
    expectsLive: turn.expectsLive,
    progress: { recovered: false, submissions: 0, wasTakenIn: false, interruptedByCaller: false },
  });
}

/** What a caller should know before the turn: nothing of it stops it. */
async function giveNotices({ session, live }: SessionTurn): Promise<void> {
  const { displayName, certifiedVersion } = session.definition;
  if (compareVersions(session.cliVersion, certifiedVersion) > 0) {
    const text = `${displayName} ${session.cliVersion} is newer than any that was certified; it runs with what was certified for ${certifiedVersion}.`;
    live.emit({ type: 'notice', text });
  }
  const expiry = await expiryNotice(session);
  if (expiry) live.emit({ type: 'notice', text: expiry });
}

/** A message that may have left us is looked for where it was put in; any other goes the way that can take it. */
async function useWayOf(
  { session, message, options }: SessionTurn,
  { entries }: TurnJournal,
): Promise<void> {
  const submitted = lastEntry(entries, 'submitting');
  const choice = options.transport ?? session.record.transportChoice ?? 'auto';
  session.useWay(
    submitted ? (submitted.way ?? 'tmux') : await wayForMessage(session, choice, message),
  );
}

function turnPaths({ layout, definition, nativeSessionId }: Session, turnId: string) {
  return {
    journal: layout.turnJournal(definition.id, nativeSessionId, turnId),
    events: layout.turnEvents(definition.id, nativeSessionId, turnId),
  };
}

function checkSameMessage({ entries }: TurnJournal, turnId: string, digest: string): void {
  const prepared = entries.find((entry) => entry.step === 'prepared');
  if (prepared?.step === 'prepared' && prepared.messageDigest !== digest) {
    throw new TurnConflictError(turnId);
  }
}

/** Gives a final outcome again, byte for byte; nothing when the turn may still go on. */
async function replay(
  { session, live }: SessionTurn,
  { entries }: TurnJournal,
  eventsPath: string,
): Promise<TurnResult | undefined> {
  const ended = lastEntry(entries, 'ended');
  if (!ended) return undefined;
  await live.attachEvents(eventsPath, { replay: true });
  const handle = session.handle();
  live.publishHandle(handle);
  if (ended.outcome.status === 'completed') {
    return { ...ended.outcome.result, handle, turnId: live.turnId, recovered: false };
  }
  throw errorFromJson(ended.outcome.error) ?? new Error('unreachable: a journaled error is ours');
}
