import { randomUUID } from 'node:crypto';
import { isoInstant, StateUnusableError } from '@holdfast/agent';
import { keys } from '../persistence/keys.js';
import type { Store } from '../persistence/store.js';
import {
  CONTINUATION_STATE_SCHEMA,
  type ContinuationState,
  type PhaseRecord,
} from '../workflow/continuation-state.js';
import { encodeContinuationState } from '../workflow/continuation-state.wire.js';
import { pendingPhase } from '../workflow/phase-record.js';
import type { ExecutionContext } from './execution-context.js';
import { type ExecutionKey, executionIdOf } from './execution-key.js';
import type { StartExecution } from './executions.js';

/**
 * Writes the first state of an execution, with what it owes; one that stands already is left as it is. Where a log says that
 * there was a state, beginning anew would send everything again: that is a `StateUnusableError`.
 */
export async function createState(
  { store, clock }: ExecutionContext,
  request: StartExecution,
): Promise<void> {
  if (await hasLog(store, request.key)) {
    const read = await store.read(keys.state(request.key));
    if (read.state === 'present') return;
    const place = keys.state(request.key).join('/');
    throw new StateUnusableError(place, 'damaged', 'it is gone, though it was begun; restore it.');
  }
  const state = firstState(request, isoInstant(clock));
  // Without the lease: nobody else can have written what is not there.
  await store.write(keys.state(request.key), encodeContinuationState(state), { mode: 'create' });
}

async function hasLog(store: Store, key: ExecutionKey): Promise<boolean> {
  for await (const _entry of store.readLog(keys.executionEvents(key))) return true;
  return false;
}

/**
 * The state an execution begins with. What comes after a workflow's main work is owed once that passed validation;
 * what has no definition owes it from the start.
 */
function firstState(request: StartExecution, at: string): ContinuationState {
  const { key, prompt, workflowId, ownerKind, agent, owner, notify, input } = request;
  const executionId = executionIdOf(key);
  const due = pendingPhase(at);
  return {
    schemaVersion: CONTINUATION_STATE_SCHEMA,
    runFolder: `${key.iteration}/${key.group}`,
    stepId: key.step,
    ownerKind,
    phases: {
      main_execution: prompt === undefined ? due : withPrompt(due, prompt),
      pre_validation: due,
      ...(workflowId === undefined && { auto_notification: due }),
    },
    updatedAt: at,
    executionId,
    workflowId,
    agent,
    correlationId: request.correlationId ?? executionId,
    createdAt: at,
    outcome: 'open',
    owner,
    notify,
    input,
    terminals: [],
  };
}

function withPrompt(due: PhaseRecord, message: string): PhaseRecord {
  const turnId = randomUUID();
  return { ...due, turnId, turns: [{ turnId, message, kind: 'prompt', state: 'open' }] };
}
