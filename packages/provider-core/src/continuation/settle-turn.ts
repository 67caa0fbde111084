import { isContinuationError } from '../errors/continuation-error.js';
import { isTurnError, ProviderFailedError } from '../errors/turn-error.js';
import type { HandleStatus } from '../spec/provider-session-handle.js';
import type { TurnResult } from '../spec/turn.js';
import { faultPoint } from '../state/fault-point.js';
import type { JournalEntry } from '../state/turn-journal.js';
import { isoInstant } from '../time/clock.js';
import type { ProcessObservation } from '../transports/session-transport.js';
import { interruptedError, isAbortOf } from './interrupted-error.js';
import type { TurnReading } from './read-turn.js';
import type { CompletedTurn } from './run-turn.js';
import { lastEntry, type TurnRun } from './turn-run.js';
import { typedError } from './typed-error.js';

/** What a caller gets of an end the provider recorded. */
export function completedOf({ ended }: Pick<TurnReading, 'ended'>): CompletedTurn {
  if (!ended) throw new Error('unreachable: a recorded turn has an end');
  const { answer, usage, sessionUsage, stopReason = 'end_turn' } = ended;
  return { answer, usage, sessionUsage, stopReason };
}

/** Journals the answer, then tells it. An end without an answer is no completion. */
export async function settleCompleted(run: TurnRun, completed: CompletedTurn): Promise<TurnResult> {
  const { journal, session, message } = run;
  if (completed.answer.trim() === '') {
    throw new ProviderFailedError('unknown', 'the turn ended without an answer');
  }
  // Journaled before a wait for background work; the turn's end is told once.
  if (lastEntry(journal.entries, 'ended')) return turnResult(run, completed);
  run.trace.enter('settle');
  faultPoint('before_ended');
  const journaled = journal.append(
    {
      step: 'ended',
      at: isoInstant(session.clock),
      outcome: { status: 'completed', result: completed },
    },
    { sync: true },
  );
  // Both go to the disk at the same time; the record changes once the journal is there.
  const saved = session.save(
    {
      status: 'idle',
      acknowledged: true,
      ...(completed.sessionUsage === undefined ? {} : { sessionUsage: completed.sessionUsage }),
      lastTurnId: run.parentTurnId ?? message.turnId,
    },
    journaled,
  );
  await Promise.allSettled([journaled, saved]);
  await journaled;
  await saved;
  faultPoint('ended');
  return turnResult(run, completed);
}

function turnResult({ session, message, progress }: TurnRun, completed: CompletedTurn): TurnResult {
  return {
    answer: completed.answer,
    handle: session.handle(),
    turnId: message.turnId,
    ...(completed.usage === undefined ? {} : { usage: completed.usage }),
    ...(completed.sessionUsage === undefined ? {} : { sessionUsage: completed.sessionUsage }),
    stopReason: completed.stopReason,
    recovered: progress.recovered,
  };
}

/** Journals why a turn did not complete, as final or parked, and gives the error with what is known. */
export async function settleError(run: TurnRun, thrown: unknown): Promise<unknown> {
  const error = settledError(run, thrown);
  if (!isTurnError(error) && !isContinuationError(error)) return error;
  const isOurs = error.handle === undefined;
  error.handle ??= run.session.handle();
  if (isTurnError(error)) error.turnId ??= run.message.turnId;
  const { journal, session } = run;
  if (journal.entries.length > 0) {
    // A state directory that cannot be written must not hide the error that was first.
    await journal.append(settledEntry(run, error), { sync: true }).catch(() => {});
    await session.saved();
    const observation = await session
      .observe()
      .catch((): ProcessObservation => ({ state: 'unknown', why: 'it could not be looked for' }));
    const status = statusOf(observation, session);
    if (session.record.status !== status) await session.save({ status }).catch(() => {});
    if (isOurs) error.handle = session.handle();
  }
  return error;
}

/** A closed session stays closed as long as nothing was started for it; an unseen one is called nothing worse than it was. */
function statusOf(
  observed: ProcessObservation,
  { record: { status: known }, way }: TurnRun['session'],
): HandleStatus {
  switch (observed.state) {
    case 'gone':
      if (known === 'closed') return known;
      // There the process ends with its turn, however that ends.
      return way === 'per_turn' ? 'idle' : 'lost';
    case 'alive':
      return observed.activity === 'busy' || observed.activity === 'waiting' ? 'active' : 'idle';
    case 'unknown':
      return known === 'active' ? 'idle' : known;
  }
}

/** What aborted a wait is the caller's interrupt; the journal says what it met. */
function settledError(run: TurnRun, thrown: unknown): unknown {
  if (isAbortOf(run.interrupted, thrown)) return interruptedError(run);
  return typedError(thrown);
}

type TypedError = Parameters<typeof isFinal>[1];

function settledEntry(run: TurnRun, error: TypedError): JournalEntry {
  const at = isoInstant(run.session.clock);
  const json = error.toJSON();
  if (error.kind === 'undeliverable_message') {
    return { step: 'ended', at, outcome: { status: 'undeliverable', error: json } };
  }
  return isFinal(run, error)
    ? { step: 'ended', at, outcome: { status: 'interrupted', error: json } }
    : { step: 'parked', at, error: json };
}

/** The caller's own interrupt is final; every other interruption may go on with the same turn id. */
function isFinal(
  { progress, interrupted }: TurnRun,
  error:
    | import('../errors/turn-error.js').TurnError
    | import('../errors/continuation-error.js').ContinuationError,
): boolean {
  return error.kind === 'turn_interrupted' && (progress.interruptedByCaller || interrupted.aborted);
}
