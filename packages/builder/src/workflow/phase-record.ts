import { type ErrorJson, isContinuationError, isTurnError } from '@holdfast/agent';
import { isCodingThreadError } from '../threads/coding-thread-error.js';
import { isCodingStageError } from '../threads/stages/stage-error.js';
import { clipError } from './clip-error.js';
import type { ContinuationState, PhaseRecord, PhaseTurn } from './continuation-state.js';
import type { Phase } from './phases.js';
import { isWorkflowError } from './workflow-error.js';

/** A phase that is due and was not begun. */
export function pendingPhase(at: string): PhaseRecord {
  return { status: 'pending', updatedAt: at, attempt: 0, turns: [] };
}

/** Changes one phase of a state; one that is not there is made first. Pure. */
export function changePhase(
  state: ContinuationState,
  phase: Phase,
  change: Partial<PhaseRecord>,
): ContinuationState {
  const at = change.updatedAt ?? state.updatedAt;
  const known = state.phases[phase] ?? pendingPhase(at);
  const record: PhaseRecord = { ...known, ...change, updatedAt: at };
  return { ...state, updatedAt: at, phases: { ...state.phases, [phase]: record } };
}

/** A phase that did all it had to. Pure. */
export function completePhase(
  state: ContinuationState,
  phase: Phase,
  at: string,
): ContinuationState {
  return changePhase(state, phase, {
    ...SETTLED,
    status: 'completed',
    completedAt: at,
    updatedAt: at,
  });
}

/** What a phase that is over says no more. */
export const SETTLED = {
  lease: undefined,
  error: undefined,
  errorJson: undefined,
  notBefore: undefined,
  suspended: undefined,
} as const;

/** Every phase of the list that is not on disk yet becomes due. Pure. */
export function owePhases(
  state: ContinuationState,
  owed: readonly Phase[],
  at: string,
): ContinuationState {
  const missing = owed.filter((phase) => state.phases[phase] === undefined);
  const due = Object.fromEntries(missing.map((phase) => [phase, pendingPhase(at)]));
  return { ...state, phases: { ...state.phases, ...due } };
}

/** Changes one turn of a phase. Pure. */
export function changeTurn(
  { turns }: PhaseRecord,
  turnId: string,
  change: Partial<PhaseTurn>,
): readonly PhaseTurn[] {
  return turns.map((one) => (one.turnId === turnId ? { ...one, ...change } : one));
}

/** Any error as it stands in a state and in events. */
export function errorJsonOf(error: unknown): ErrorJson {
  if (isTurnError(error) || isContinuationError(error)) return error.toJSON();
  const name = error instanceof Error ? error.name : 'Error';
  const message = clipError(error instanceof Error ? error.message : String(error));
  if (isCodingThreadError(error))
    return coding(error, { name, message, facts: { retry: error.retry } });
  if (isCodingStageError(error)) {
    const { reason, isFinal, details } = error;
    return coding(error, { name, message, facts: { reason, isFinal, round: details.round } });
  }
  if (!isWorkflowError(error))
    return { family: 'unknown', kind: 'unknown', name, message, facts: {} };
  return { family: 'workflow', kind: error.kind, name, message, facts: {} };
}

function coding(
  { kind }: { readonly kind: string },
  rest: Pick<ErrorJson, 'name' | 'message' | 'facts'>,
): ErrorJson {
  return { family: 'coding', kind, ...rest };
}
