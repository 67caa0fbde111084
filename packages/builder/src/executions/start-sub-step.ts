import type { StepDefinition } from '../workflow/workflow-definition.js';
import { createExecutions } from './create-executions.js';
import type { PhaseRun } from './phase-run.js';

/** Starts a todo sub-step, or finds it where it was started before; gives its id. Nobody is told of its end but its owner. */
export async function startSubStep(
  { context, live }: PhaseRun,
  { id, agent }: StepDefinition,
): Promise<string> {
  const { executionId, workflowId, correlationId, input } = live.state;
  const child = await createExecutions(context).start({
    key: { ...live.key, step: id },
    ownerKind: 'todo_sub_step',
    agent,
    workflowId,
    owner: { kind: 'execution', executionId },
    correlationId,
    input,
  });
  return child.executionId;
}
