import { StateUnusableError } from '@holdfast/agent';
import { keys } from '../persistence/keys.js';
import type { Store } from '../persistence/store.js';
import type { ContinuationState } from '../workflow/continuation-state.js';
import { readContinuationState } from '../workflow/continuation-state-file.js';
import { UnknownExecutionError } from '../workflow/workflow-error.js';
import { type ExecutionKey, readExecutionId } from './execution-key.js';

/** The state of an execution, where there is one. One that cannot be used is a `StateUnusableError`. */
export async function findState(
  store: Store,
  key: ExecutionKey,
): Promise<ContinuationState | undefined> {
  const read = await readContinuationState(store, key);
  if (read.state === 'present') return read.value;
  if (read.state === 'absent') return undefined;
  const reason = read.reason === 'newer_schema' ? 'newer_format' : 'damaged';
  throw new StateUnusableError(
    keys.state(key).join('/'),
    reason,
    `it is kept as ${read.movedTo}; restore it.`,
  );
}

/** The state of an execution, or `unknown_execution`. */
export async function getState(store: Store, executionId: string): Promise<ContinuationState> {
  const state = await findState(store, readExecutionId(executionId));
  if (!state) throw new UnknownExecutionError(executionId);
  return state;
}

/** The states of one run folder, by step. One that cannot be used is left out: its own driver reports it. */
export async function listStates(
  store: Store,
  run: Pick<ExecutionKey, 'iteration' | 'group'>,
): Promise<readonly ContinuationState[]> {
  const states: ContinuationState[] = [];
  for (const step of await store.list(keys.steps(run))) {
    const read = await readContinuationState(store, { ...run, step });
    if (read.state === 'present') states.push(read.value);
  }
  return states;
}
