import { clipText, joinLines } from '../notifications/clip-text.js';
import type { JsonValue } from '../persistence/store.js';
import type { ContinuationState, PhaseRecord } from '../workflow/continuation-state.js';
import { isSettled, PHASES } from '../workflow/phases.js';

const MAX_SUMMARY_CHARACTERS = 200;

/** What a caller may know of its sub-agent, in the spelling of its tools. Pure. */
export function describeSubAgent(state: ContinuationState): JsonValue {
  return { ...headOf(state), ...resultOf(state) };
}

/** The same in a list: one line of the result. Pure. */
export function summarizeSubAgent(state: ContinuationState): JsonValue {
  const { answer, error } = resultOf(state);
  const shorten = (text: string | undefined) =>
    text === undefined ? undefined : clipText(joinLines(text), MAX_SUMMARY_CHARACTERS);
  return { ...headOf(state), answer: shorten(answer), error: shorten(error) };
}

function headOf(state: ContinuationState) {
  const { executionId, agent, ownerKind, outcome, createdAt, updatedAt } = state;
  const open = PHASES.find((phase) => isOpen(state.phases[phase]));
  const suspended = open && state.phases[open]?.suspended;
  return {
    execution_id: executionId,
    agent,
    kind: ownerKind,
    state: outcome === 'open' ? 'running' : outcome,
    ...(outcome === 'open' && suspended && { waits_for: suspended.reason }),
    created_at: createdAt,
    updated_at: updatedAt,
  };
}

function isOpen(record: PhaseRecord | undefined): boolean {
  return record !== undefined && !isSettled(record.status);
}

/** The answer of one that completed, or why another did not: never both. */
function resultOf({ outcome, answer, phases }: ContinuationState): {
  readonly answer?: string | undefined;
  readonly error?: string | undefined;
} {
  if (outcome === 'completed') return { answer: answer ?? '' };
  if (outcome === 'open') return {};
  const failed = PHASES.map((phase) => phases[phase]).find((record) => record?.status === 'failed');
  return { error: failed?.error ?? `It is ${outcome}.` };
}
