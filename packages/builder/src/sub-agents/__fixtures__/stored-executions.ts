import { executionIdOf, readExecutionId } from '../../executions/execution-key.js';
import type { Executions, StartExecution } from '../../executions/executions.js';
import { keys } from '../../persistence/keys.js';
import type { JsonValue, Store } from '../../persistence/store.js';
import type { ContinuationState } from '../../workflow/continuation-state.js';
import { UnknownExecutionError } from '../../workflow/workflow-error.js';

/** Executions that are begun, listed and stopped in a store, and never run: several processes may share them. */
export interface StoredExecutions extends Executions {
  readonly started: StartExecution[];
  readonly finish: (executionId: string, answer: string) => Promise<void>;
}

export function createStoredExecutions(store: Store): StoredExecutions {
  const started: StartExecution[] = [];
  const get = async (executionId: string) => {
    const read = await store.read(keys.state(readExecutionId(executionId)));
    if (read.state !== 'present') throw new UnknownExecutionError(executionId);
    return read.value as ContinuationState;
  };
  const patch = async (executionId: string, change: Partial<ContinuationState>) => {
    const next = { ...(await get(executionId)), ...change } as unknown as JsonValue;
    await store.write(keys.state(readExecutionId(executionId)), next);
  };
  return {
    started,
    get,
    start: async (request) => {
      const state = stateOf(request) as unknown as JsonValue;
      const isNew = await store.write(keys.state(request.key), state, { mode: 'create' });
      if (isNew) started.push(request);
      return get(executionIdOf(request.key));
    },
    wait: get,
    stop: async (executionId, reason) => {
      await store.write(keys.stop(readExecutionId(executionId)), { reason });
      const { outcome } = await get(executionId);
      if (outcome === 'open') await patch(executionId, { outcome: 'stopped' });
    },
    finish: (executionId, answer) => patch(executionId, { outcome: 'completed', answer }),
    resume: async () => {},
    list: async (run) => {
      const steps = await store.list(keys.steps(run));
      return Promise.all(steps.map((step) => get(executionIdOf({ ...run, step }))));
    },
    events: async function* () {},
  };
}

function stateOf(request: StartExecution): ContinuationState {
  const at = new Date().toISOString();
  const { key, ownerKind, agent, owner, notify, input, correlationId } = request;
  return {
    schemaVersion: 2,
    runFolder: `${key.iteration}/${key.group}`,
    stepId: key.step,
    ownerKind,
    agent,
    phases: {},
    createdAt: at,
    updatedAt: at,
    executionId: executionIdOf(key),
    outcome: 'open',
    terminals: [],
    owner,
    notify,
    input,
    correlationId,
  };
}
