import type { ContinuationState, PhaseRecord } from '../workflow/continuation-state.js';
import { isPostStep } from '../workflow/phase-plan.js';
import { PHASES, type Phase } from '../workflow/phases.js';
import type { WorkflowEventBody } from '../workflow/workflow-event.js';
import type { LiveExecution } from './live-execution.js';
import { completedEvents } from './run-post-step.js';
import { failedEvents, findEndError } from './settle-phase.js';

/**
 * Brings the log up to date with the state: a crash between a write and the event that tells of it must not lose the
 * event. What was told already is not told again.
 */
export async function tellWhatWasWritten(live: LiveExecution): Promise<void> {
  for (const event of listUntold(live)) await live.log.append(event);
}

function listUntold({ state, log }: LiveExecution): readonly WorkflowEventBody[] {
  const { events } = log;
  const { outcome } = state;
  const untold: WorkflowEventBody[] = events.length === 0 ? [{ type: 'execution_opened' }] : [];
  untold.push(...listUntoldFeedback(state, events));
  for (const phase of PHASES) {
    const told = events.slice(events.findLastIndex((event) => isStart(event, phase)) + 1);
    const due = state.phases[phase] ? listEndEvents(phase, state.phases[phase]) : [];
    untold.push(...due.filter((event) => !told.some((one) => isSame(one, event))));
  }
  if (outcome === 'open' || events.some(({ type }) => type === 'execution_ended')) return untold;
  const error = outcome === 'completed' ? undefined : findEndError(state);
  return [...untold, { type: 'execution_ended', outcome, error }];
}

function listUntoldFeedback(
  { phases }: ContinuationState,
  events: readonly WorkflowEventBody[],
): readonly WorkflowEventBody[] {
  const turns = phases.main_execution?.turns ?? [];
  const sent = turns.filter(({ kind }) => kind === 'validation_feedback');
  const told = events.filter((event) => event.type === 'pre_validation_failed' && event.willRetry);
  return sent
    .slice(told.length)
    .map(({ message }) => ({ type: 'pre_validation_failed', feedback: message, willRetry: true }));
}

/** What is told of a phase that is over. */
function listEndEvents(
  phase: Phase,
  { status, errorJson }: PhaseRecord,
): readonly WorkflowEventBody[] {
  if (status === 'failed' && errorJson) return failedEvents(phase, errorJson);
  if (status !== 'completed') return [];
  if (isPostStep(phase)) return completedEvents(phase);
  const completed = { type: 'phase_completed', phase } as const;
  return phase === 'pre_validation' ? [completed, { type: 'pre_validation_passed' }] : [completed];
}

function isStart(event: WorkflowEventBody, phase: Phase): boolean {
  return event.type === 'phase_started' && event.phase === phase;
}

function isSame(one: WorkflowEventBody, other: WorkflowEventBody): boolean {
  const phaseOf = (event: WorkflowEventBody) => ('phase' in event ? event.phase : undefined);
  return one.type === other.type && phaseOf(one) === phaseOf(other);
}
