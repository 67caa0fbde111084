import { isTurnError, UncertainDeliveryError } from '../errors/turn-error.js';
import type { RecordCursor } from '../spec/record-event.js';
import { faultPoint } from '../state/fault-point.js';
import { isoInstant } from '../time/clock.js';
import type { OpenSession } from '../transports/session-transport.js';
import { followTurn } from './follow-turn.js';
import { interruptedError, isAbortOf } from './interrupted-error.js';
import { isLost, openSession, waitUntilFree } from './open-session.js';
import { waitForQuiescence } from './quiescence.js';
import { readTurn } from './read-turn.js';
import type { TurnStep } from './run-turn.js';
import { settleCompleted } from './settle-turn.js';
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
  return await followToQuiet(run, open, cursor);
}

/** Follows the turn to its end and, where the caller waits for that, its background work too. */
async function followToQuiet(
  run: TurnRun,
  open: OpenSession,
  cursor: RecordCursor,
): Promise<TurnStep> {
  const step = await followTurn(run, open, cursor);
  if (step === 'look_again' || run.options.waitFor === 'turn') return step;
  // The answer is safe before the wait: whatever happens behind it, the turn is complete.
  await settleCompleted(run, step.completed);
  await waitForQuiescence(run, open, cursor);
  return step;
}

/** Attaches to a turn that runs, or may run, and follows it from where its message was sent. */
export async function attachAndFollow(
  run: TurnRun,
  { finishInterruptedTurn }: { readonly finishInterruptedTurn: boolean },
): Promise<TurnStep> {
  const cursor = lastEntry(run.journal.entries, 'submitting')?.cursor;
  if (!cursor) throw new Error('unreachable: a turn that may run was submitted');
  // Not cut short by an interrupt: only an open session can interrupt what may be running in it.
  const signal = new AbortController().signal;
  await using open = await openSession(run, { finishInterruptedTurn, signal });
  run.trace.enter('wait');
  run.emit({ type: 'running' });
  // Awaited here: the session must stay open until the turn is over.
  return await followToQuiet(run, open, cursor);
}

async function prepare(run: TurnRun): Promise<void> {
  const { journal, session, message, options } = run;
  if (journalState(journal.entries) === 'none') {
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
  run.trace.enter('delivery');
  const cursor = await open.takeCursor();
  // The new cursor hides what came in before it: an earlier try may have arrived since it was looked for.
  if (await hasArrived(run)) return 'lost';
  faultPoint('before_submitting');
  refuseInterrupted(run);
  await run.journal.append(
    {
      step: 'submitting',
      attempt: nextAttempt(run),
      cursor,
      way: run.session.way,
      at: isoInstant(run.session.clock),
    },
    { sync: true },
  );
  faultPoint('submitting');
  run.progress.submissions += 1;
  try {
    await open.submit({
      text: run.message.text,
      images: run.message.images,
      turnId: run.message.turnId,
      cursor,
      mayStandInComposer,
      draft: run.options.draft,
      signal: run.interrupted,
    });
  } catch (error) {
    // It may have left us: following it takes it back or interrupts it, and the record says which.
    if (isAbortOf(run.interrupted, error)) return cursor;
    if (isDecided(error) || !(await isLost(run))) throw error;
    return 'lost';
  }
  faultPoint('submitted');
  run.emit({ type: 'running' });
  return cursor;
}

/** Whether the record holds the message that an earlier try put in. */
async function hasArrived({ session, journal, message }: TurnRun): Promise<boolean> {
  const earlier = lastEntry(journal.entries, 'submitting')?.cursor;
  if (!earlier) return false;
  const stored = await session.transport.readRecord(session.context(), earlier);
  if (stored.state !== 'readable') return stored.state === 'untrustworthy';
  return readTurn(stored.events, message).state !== 'no_message';
}

/** Errors that say for sure that nothing was sent, and why. */
function isDecided(error: unknown): boolean {
  return isTurnError(error) && DECIDED.has(error.kind);
}

const DECIDED: ReadonlySet<string> = new Set(['session_busy', 'blocked', 'undeliverable_message']);

function nextAttempt({ journal }: TurnRun): number {
  return journal.entries.filter((entry) => entry.step === 'submitting').length + 1;
}

function refuseInterrupted(run: TurnRun): void {
  if (run.interrupted.aborted) throw interruptedError(run);
}
