import type { PhaseRecord } from '../workflow/continuation-state.js';
import { isPostStep } from '../workflow/phase-plan.js';
import { PHASES, type Phase } from '../workflow/phases.js';
import type { WorkflowEventBody } from '../workflow/workflow-event.js';
import type { LiveExecution } from './live-execution.js';
import { completedEvents } from './run-post-step.js';
import { findEndError } from './settle-phase.js';

/**
 * Brings the log up to date with the state: a crash between a write and the event that tells of it must not lose the
 * event. What was told already is not told again.
 */
export async function tellWhatWasWritten(live: LiveExecution): Promise<void> {
  for (const event of listUntold(live)) await live.log.append(event);
}

function listUntold({ state, log }: LiveExecution): readonly WorkflowEventBody[] {
  const untold: WorkflowEventBody[] = [];
  if (log.events.length === 0) untold.push({ type: 'execution_opened' });
  for (const phase of PHASES) {
    const record = state.phases[phase];
    const last = log.events.findLast((event) => 'phase' in event && event.phase === phase)?.type;
    if (record) untold.push(...listUntoldOf(phase, record, last));
  }
  if (state.outcome === 'open' || log.events.some(({ type }) => type === 'execution_ended')) {
    return untold;
  }
  const error = state.outcome === 'completed' ? undefined : findEndError(state);
  return [...untold, { type: 'execution_ended', outcome: state.outcome, error }];
}

function listUntoldOf(
  phase: Phase,
  { status, errorJson }: PhaseRecord,
  last: string | undefined,
): readonly WorkflowEventBody[] {
  if (status === 'completed' && !(last && COMPLETED.has(last))) {
    if (isPostStep(phase)) return completedEvents(phase);
    const completed = { type: 'phase_completed', phase } as const;
    return phase === 'pre_validation'
      ? [completed, { type: 'pre_validation_passed' }]
      : [completed];
  }
  if (status === 'failed' && errorJson && last !== 'phase_failed') {
    return [{ type: 'phase_failed', phase, error: errorJson }];
  }
  return [];
}

const COMPLETED: ReadonlySet<string> = new Set([
  'phase_completed',
  'learning_completed',
  'kb_review_completed',
]);
