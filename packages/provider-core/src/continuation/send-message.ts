import { isTurnError, TurnInterruptedError, UncertainDeliveryError } from '../errors/turn-error.js';
import type { RecordCursor } from '../spec/record-event.js';
import { faultPoint } from '../state/fault-point.js';
import { isoInstant } from '../time/clock.js';
import type { OpenSession } from '../transports/session-transport.js';
import { followTurn } from './follow-turn.js';
import { isLost, openSession, waitUntilFree } from './open-session.js';
import type { TurnStep } from './run-turn.js';
import { journalState, lastEntry, type TurnRun } from './turn-run.js';

/** A message that left us this often and was never taken in is given up as uncertain. */
const MAX_SUBMISSIONS = 4;

/** Steps 2 to 6 of the machine: journal, open, cursor, journal, send, follow. */
export async function sendMessage(
  run: TurnRun,
  { mayStandInComposer }: { readonly mayStandInComposer: boolean },
): Promise<TurnStep> {
  await prepare(run);
  await using open = await openSession(run, { finishInterruptedTurn: false });
  if ((await waitUntilFree(run, open)) === 'lost') return 'look_again';
  const cursor = await submit(run, open, mayStandInComposer);
  if (cursor === 'lost') return 'look_again';
  // Awaited here: the session must stay open until the turn is over.
  return await followTurn(run, open, cursor);
}

/** Attaches to a turn that runs, or may run, and follows it from where its message was sent. */
export async function attachAndFollow(
  run: TurnRun,
  { finishInterruptedTurn }: { readonly finishInterruptedTurn: boolean },
): Promise<TurnStep> {
  const cursor = lastEntry(run.journal.entries, 'submitting')?.cursor;
  if (!cursor) throw new Error('unreachable: a turn that may run was submitted');
  await using open = await openSession(run, { finishInterruptedTurn });
  run.emit({ type: 'running' });
  // Awaited here: the session must stay open until the turn is over.
  return await followTurn(run, open, cursor);
}

async function prepare(run: TurnRun): Promise<void> {
  const { journal, session, message, options } = run;
  if (journalState(journal.entries) !== 'prepared') {
    await journal.append(
      {
        step: 'prepared',
        turnId: message.turnId,
        messageDigest: run.messageDigest,
        attempt: nextAttempt(run),
        at: isoInstant(session.clock),
        ...(run.parentTurnId === undefined ? {} : { parentTurnId: run.parentTurnId }),
      },
      { sync: true },
    );
  }
  faultPoint('prepared');
  await options.onBeforeNativeChange({
    turnId: run.parentTurnId ?? message.turnId,
    handle: session.handle(),
  });
  refuseInterrupted(run);
}

async function submit(
  run: TurnRun,
  open: OpenSession,
  mayStandInComposer: boolean,
): Promise<RecordCursor | 'lost'> {
  if (run.progress.submissions >= MAX_SUBMISSIONS) {
    throw new UncertainDeliveryError({
      what: `it was put in ${run.progress.submissions} times and never taken in`,
      journal: 'submitting',
      record: 'no_message',
      process: 'idle',
    });
  }
  const cursor = await open.takeCursor();
  faultPoint('before_submitting');
  refuseInterrupted(run);
  await run.journal.append(
    { step: 'submitting', attempt: nextAttempt(run), cursor, at: isoInstant(run.session.clock) },
    { sync: true },
  );
  faultPoint('submitting');
  run.progress.submissions += 1;
  try {
    await open.submit({
      text: run.message.text,
      turnId: run.message.turnId,
      cursor,
      mayStandInComposer,
      draft: run.options.draft,
      signal: run.interrupted,
    });
  } catch (error) {
    if (isDecided(error) || !(await isLost(run))) throw error;
    return 'lost';
  }
  faultPoint('submitted');
  run.emit({ type: 'running' });
  return cursor;
}

/** Errors that say for sure that nothing was sent, and why. */
function isDecided(error: unknown): boolean {
  return isTurnError(error) && DECIDED.has(error.kind);
}

const DECIDED: ReadonlySet<string> = new Set(['session_busy', 'blocked', 'undeliverable_message']);

function nextAttempt({ journal }: TurnRun): number {
  return journal.entries.filter((entry) => entry.step === 'submitting').length + 1;
}

function refuseInterrupted({ interrupted }: TurnRun): void {
  if (!interrupted.aborted) return;
  throw new TurnInterruptedError({
    accepted: false,
    inHistory: false,
    why: 'the caller interrupted it before anything was sent',
  });
}
