import { StaleHandleError } from '../errors/continuation-error.js';
import {
  TurnInterruptedError,
  UncertainDeliveryError,
  UndeliverableMessageError,
} from '../errors/turn-error.js';
import type { TurnResult } from '../spec/turn.js';
import type { CrashDecision } from './decide-after-crash.js';
import { failureError } from './failure-error.js';
import { nudgeTurn } from './nudge-turn.js';
import { attachAndFollow, sendMessage } from './send-message.js';
import { completedOf, settleCompleted, settleError } from './settle-turn.js';
import type { TurnRun } from './turn-run.js';
import { situationOf, type TurnSituation } from './turn-situation.js';

/** How a run of the machine may go on: over, or look again at journal, record and process. */
export type TurnStep = { readonly completed: CompletedTurn } | 'look_again';

/** The end of a turn as the provider recorded it. */
export interface CompletedTurn {
  readonly answer: string;
  readonly usage?: TurnResult['usage'];
  readonly sessionUsage?: TurnResult['sessionUsage'];
  readonly stopReason: string;
}

/** A turn that keeps losing its process is given up after this many looks. */
const MAX_LOOKS = 8;

/**
 * Runs one message to its end: journal and record decide what to do, it is done, and where the transport is lost
 * meanwhile they decide again. The outcome is journaled before it is told.
 */
export async function runTurn(run: TurnRun): Promise<TurnResult> {
  try {
    for (let look = 0; look < MAX_LOOKS; look++) {
      const situation = await situationOf(run);
      const step = await act(run, run.interrupted.aborted ? withoutSending(situation) : situation);
      if (step !== 'look_again') return await settleCompleted(run, step.completed);
    }
    throw uncertain(await situationOf(run));
  } catch (error) {
    throw await settleError(run, error);
  } finally {
    // One that the turn did not wait for must not reach the disk when the lease is another's.
    await run.session.saved();
  }
}

/** After the caller's interrupt nothing more is put in: what may be running is attached to, and interrupted there. */
function withoutSending(situation: TurnSituation): TurnSituation {
  const decision = INSTEAD_OF_SENDING[situation.decision] ?? situation.decision;
  return { ...situation, decision };
}

const INSTEAD_OF_SENDING: Partial<Record<CrashDecision, CrashDecision>> = {
  press_or_prove_empty: 'wait',
  finish_interrupted: 'fail_interrupted',
  nudge: 'fail_interrupted',
};

async function act(run: TurnRun, situation: TurnSituation): Promise<TurnStep> {
  const { decision, reading } = situation;
  switch (decision) {
    case 'send':
    case 'go_on_from_open':
      return sendMessage(run, { mayStandInComposer: false });
    case 'press_or_prove_empty':
      // Its hook or frame said that it took the message in, and its record does not hold it: nobody knows.
      if (run.progress.wasTakenIn) throw uncertain(situation);
      return sendMessage(run, { mayStandInComposer: true });
    case 'wait':
      return attachAndFollow(run, { finishInterruptedTurn: false });
    case 'finish_interrupted':
      return finishInterrupted(run, reading);
    case 'nudge':
      return { completed: await nudgeTurn(run, runTurn) };
    case 'return_recorded':
      return { completed: completedOf(reading) };
    case 'raise_failure':
      throw failureError(reading.failed);
    case 'fail_interrupted':
      throw new TurnInterruptedError({
        accepted: true,
        inHistory: reading.state === 'open' || reading.state === 'interrupted',
        why: 'its process ended, or went idle, before the turn did',
        isFinal: run.interrupted.aborted,
      });
    case 'refuse_undeliverable':
      throw new UndeliverableMessageError(
        'blocked',
        `Another hook refused it: ${reading.blockedReason ?? 'no reason given'}.`,
      );
    case 'stale':
      throw new StaleHandleError(run.session.definition.id, 'native_session_id');
    case 'uncertain':
      throw uncertain(situation);
    case 'replay':
      throw new Error('unreachable: an ended turn is replayed before the machine runs');
  }
}

/** The provider finishes a cut-off turn by itself where it can; where it does not begin to, the nudge does. */
async function finishInterrupted(
  run: TurnRun,
  { usedTools }: TurnSituation['reading'],
): Promise<TurnStep> {
  // Seen on Claude Code 2.1.197: it begins the turn anew, and a tool that had run runs again.
  if (!run.session.capabilities.finishesInterruptedTurns || usedTools) {
    return { completed: await nudgeTurn(run, runTurn) };
  }
  const step = await attachAndFollow(run, { finishInterruptedTurn: true });
  if (step !== 'look_again') return step;
  const again = await situationOf(run);
  if (again.decision !== 'finish_interrupted' && again.decision !== 'nudge') return act(run, again);
  return { completed: await nudgeTurn(run, runTurn) };
}

function uncertain({ journal, record, process }: TurnSituation): UncertainDeliveryError {
  return new UncertainDeliveryError({
    what: `the journal says ${journal}, the provider's record ${record}, the process ${process}`,
    journal,
    record,
    process,
  });
}
