import { randomUUID } from 'node:crypto';
import type { ContinuationState, PhaseTurn } from '../workflow/continuation-state.js';
import { listOwedPhases } from '../workflow/phase-plan.js';
import { changePhase, completePhase, owePhases } from '../workflow/phase-record.js';
import { isCodingStep } from '../workflow/workflow-definition.js';
import { ValidationFailedError } from '../workflow/workflow-error.js';
import { type PhaseRun, stepContextOf } from './phase-run.js';

const DEFAULT_MAX_FEEDBACK = 2;

/**
 * Judges the answer of the main work. What passed owes all that comes after it, in the same write; what did not gets the
 * feedback in the same session, a bounded number of times.
 */
export async function runPreValidation(run: PhaseRun): Promise<void> {
  const { step } = run.found;
  const answer = findAnswer(run.live.state);
  const verdict = step?.preValidate
    ? await step.preValidate(answer ?? '', await stepContextOf(run))
    : { passed: true as const };
  if (verdict.passed) return await pass(run, answer);
  const sent = countFeedback(run.live.state);
  // A coding step has no session that could take the feedback.
  const most = isCodingStep(step) ? 0 : (step?.maxFeedback ?? DEFAULT_MAX_FEEDBACK);
  if (sent >= most) {
    throw new ValidationFailedError(verdict.feedback);
  }
  await sendBack(run, verdict.feedback);
}

async function pass({ live, found }: PhaseRun, answer: string | undefined): Promise<void> {
  await live.write(
    (before, at) => {
      const state = completePhase(before, 'pre_validation', at);
      return owePhases({ ...state, answer }, listOwedPhases(found.step, state), at);
    },
    [{ type: 'phase_completed', phase: 'pre_validation' }, { type: 'pre_validation_passed' }],
  );
}

async function sendBack({ live }: PhaseRun, feedback: string): Promise<void> {
  const turn: PhaseTurn = {
    turnId: randomUUID(),
    message: feedback,
    kind: 'validation_feedback',
    state: 'open',
  };
  const again = { status: 'pending', attempt: 0, lease: undefined, notBefore: undefined } as const;
  await live.write(
    (before, at) => {
      const state = changePhase(before, 'pre_validation', { ...again, updatedAt: at });
      return changePhase(state, 'main_execution', {
        ...again,
        completedAt: undefined,
        turns: [...(state.phases.main_execution?.turns ?? []), turn],
        turnId: turn.turnId,
        updatedAt: at,
      });
    },
    [{ type: 'pre_validation_failed', feedback, willRetry: true }],
  );
}

/** The newest answer of the session: a child's notification may have brought a better one than the step's own message. */
function findAnswer({ phases }: ContinuationState): string | undefined {
  return phases.main_execution?.turns.findLast(({ state }) => state === 'completed')?.answer;
}

function countFeedback({ phases }: ContinuationState): number {
  const turns = phases.main_execution?.turns ?? [];
  return turns.filter(({ kind }) => kind === 'validation_feedback').length;
}
