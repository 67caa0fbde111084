import { isTurnError, TurnInterruptedError } from '../errors/turn-error.js';
import type { TurnResult } from '../spec/turn.js';
import { openTurnJournal } from '../state/turn-journal.js';
import { isoInstant } from '../time/clock.js';
import { digestOf } from './canonical-json.js';
import { openFencedJournal } from './fenced-journal.js';
import type { CompletedTurn } from './run-turn.js';
import { lastEntry, type TurnRun } from './turn-run.js';

const DEFAULT_NUDGE = 'Continue.';

/**
 * Makes an accepted turn that was cut off go on: a child turn with an id of its own, journaled before it is sent,
 * so that a crash here finds the same child again. The parent's message is never sent a second time. `runChild` is the
 * machine that runs the parent: a child turn differs from any other in its message alone.
 */
export async function nudgeTurn(
  run: TurnRun,
  runChild: (child: TurnRun) => Promise<TurnResult>,
): Promise<CompletedTurn> {
  const { session, options } = run;
  const text = session.record.config.nudge ?? DEFAULT_NUDGE;
  const childTurnId = await findOrJournalChild(run);
  const journal = await openFencedJournal(
    session.layout.turnJournal(session.definition.id, session.nativeSessionId, childTurnId),
    run.fence,
  );
  const ended = lastEntry(journal.entries, 'ended');
  if (ended?.outcome.status === 'completed') return ended.outcome.result;

  options.logger.info({ parent_turn_id: run.message.turnId, turn_id: childTurnId }, 'nudged');
  const progress = { ...run.progress, submissions: 0, wasTakenIn: false };
  const { answer, usage, sessionUsage, stopReason } = await runChild({
    ...run,
    progress,
    journal,
    message: { text, images: [], turnId: childTurnId },
    messageDigest: digestOf(text),
    parentTurnId: run.parentTurnId ?? run.message.turnId,
  }).catch((error: unknown) => {
    throw errorOfParent(error);
  });
  run.progress.recovered ||= progress.recovered;
  return { answer, usage, sessionUsage, stopReason };
}

/** A nudge that did not go in changes nothing about its parent's message: that one was taken in. */
function errorOfParent(error: unknown): unknown {
  if (!isTurnError(error)) return error;
  delete error.turnId;
  if (error.kind !== 'turn_interrupted' && error.kind !== 'undeliverable_message') return error;
  const why =
    error.kind === 'turn_interrupted'
      ? 'the caller interrupted it'
      : `its nudge (config.nudge) cannot be delivered: ${error.reason}`;
  const isFinal = error.kind === 'turn_interrupted' && error.isFinal;
  return new TurnInterruptedError(
    { accepted: true, inHistory: true, why, isFinal },
    { cause: error },
  );
}

async function findOrJournalChild({ journal, session }: TurnRun): Promise<string> {
  const known = lastEntry(journal.entries, 'nudged');
  if (known && !(await isFinalWithoutAnswer(session, known.childTurnId))) return known.childTurnId;
  const childTurnId: string = crypto.randomUUID();
  await journal.append(
    { step: 'nudged', at: isoInstant(session.clock), childTurnId },
    { sync: true },
  );
  return childTurnId;
}

/** A nudge the caller interrupted is over for good; the next try needs a new one. */
async function isFinalWithoutAnswer(
  session: TurnRun['session'],
  childTurnId: string,
): Promise<boolean> {
  const { entries } = await openTurnJournal(
    session.layout.turnJournal(session.definition.id, session.nativeSessionId, childTurnId),
  );
  const ended = lastEntry(entries, 'ended');
  return ended !== undefined && ended.outcome.status !== 'completed';
}
