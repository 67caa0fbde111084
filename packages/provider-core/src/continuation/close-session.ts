import { isContinuationError } from '../errors/continuation-error.js';
import { isTurnError, TimedOutError } from '../errors/turn-error.js';
import type { CodingProviderSessionHandle } from '../spec/provider-session-handle.js';
import { prepareStateDir } from '../state/prepare-state-dir.js';
import { removeExpiredRecords } from '../state/retention.js';
import type { EndReport, EndRequest } from '../transports/session-transport.js';
import { type FoundSession, findSession } from './inspect-session.js';
import type { Session } from './session.js';
import { takeSessionLease } from './session-lease.js';
import { type ResolvedTurnOptions, resolveTurnOptions, type TurnOptions } from './turn-options.js';
import { typedError } from './typed-error.js';

export interface CloseOptions extends Pick<TurnOptions, 'stateDir' | 'logger' | 'whenBusy'> {
  /** Put the session away for good: continuing it is refused from then on. False when absent. */
  readonly archive?: boolean | undefined;
  /** How long ending its processes may take; 20 s when absent. */
  readonly deadlineMs?: number | undefined;
}

/** What a close did. */
export interface CloseResult {
  /** With status `closed`: continuing it resumes natively, unless it was archived. */
  readonly handle: CodingProviderSessionHandle;
  /** How many processes were ended, the tools the CLI had started included. */
  readonly endedProcesses: number;
  readonly archived: boolean;
}

const DEFAULT_CLOSE_MS = 20_000;

/**
 * Ends every process of a session. The provider keeps its history. A process that cannot be ended in time is a
 * `timed_out` error; the session stays closable.
 */
export async function closeCodingAgentSession(
  handle: CodingProviderSessionHandle | Readonly<Record<string, unknown>> | string,
  options: CloseOptions = {},
): Promise<CloseResult> {
  const { archive = false, deadlineMs = DEFAULT_CLOSE_MS } = options;
  const resolved = resolveTurnOptions(options);
  await prepareStateDir(resolved.stateDir);
  const found = await findSession(handle, options);
  try {
    return await endSession(found, { archive, deadlineMs, options: resolved });
  } catch (thrown) {
    const error = typedError(thrown);
    if (isTurnError(error) || isContinuationError(error)) error.handle ??= found.session.handle();
    throw error;
  }
}

/** Ends the session in every way it was driven in; whichever can put it away does. */
async function endEverywhere(
  session: Session,
  { archive, deadlineMs }: EndRequest,
): Promise<EndReport> {
  let total = await session.transport.end(session.context(), { archive, deadlineMs });
  for (const other of session.otherTransports()) {
    const report = await other.end(session.context(), { archive: false, deadlineMs });
    total = {
      ended: total.ended + report.ended,
      left: [...total.left, ...report.left],
      archived: total.archived,
    };
  }
  return total;
}

interface EndSession {
  readonly archive: boolean;
  readonly deadlineMs: number;
  readonly options: ResolvedTurnOptions;
}

async function endSession(
  { session, isRecorded }: FoundSession,
  { archive, deadlineMs, options: resolved }: EndSession,
): Promise<CloseResult> {
  await using _lease = await takeSessionLease(session, resolved, new AbortController().signal);
  await session.refresh();
  const report = await endEverywhere(session, { archive, deadlineMs });
  if (report.left.length > 0) {
    const error = new TimedOutError({
      awaiting: `the end of processes ${report.left.join(', ')}`,
      limitMs: deadlineMs,
      layer: 'provider-core',
    });
    error.handle = session.handle();
    throw error;
  }
  if (isRecorded)
    await session.save({ status: 'closed', archived: session.record.archived || archive });
  // The session is closed: what cannot be cleared away of others is no failure of it.
  await removeExpiredRecords(session.layout, { clock: resolved.clock }).catch((error: unknown) => {
    resolved.logger.warn({ err: error }, 'expired records not removed');
  });
  return {
    handle: { ...session.handle(), status: 'closed' },
    endedProcesses: report.ended,
    archived: report.archived || session.record.archived,
  };
}
