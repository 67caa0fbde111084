import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defineWorkflow, type StepDefinition } from '../workflow/workflow-definition.js';
import { createMachine, createService, type Machine, typesOf } from './__fixtures__/world.js';

const KEY = { iteration: '1', group: 'main', step: 'draft' };
const ID = '1~main~draft';

let machine: Machine;
beforeEach(async () => {
  machine = await createMachine();
});
afterEach(() => machine.dispose());

const start = {
  key: KEY,
  ownerKind: 'workflow_step',
  agent: 'coder',
  workflowId: 'report',
} as const;

function workflowOf(step: Partial<StepDefinition>) {
  return defineWorkflow({
    id: 'report',
    steps: [{ id: 'draft', agent: 'coder', prompt: 'write', ...step }],
  });
}

describe('the driver of an execution', () => {
  it('runs every owed phase once and in order, and tells of the end last', async () => {
    const applied: string[] = [];
    const service = createService(machine, {
      workflows: [
        workflowOf({
          preValidate: (answer) => ({ passed: answer === 'answer to write', feedback: 'no' }),
          kbReview: { prompt: 'review', apply: (answer) => void applied.push(answer) },
          learning: { prompt: 'learn', apply: (answer) => void applied.push(answer) },
        }),
      ],
    });
    await service.executions.start(start);
    await service.engine.run();
    const state = await service.executions.get(ID);
    expect(state.outcome).toBe('completed');
    expect(state.answer).toBe('answer to write');
    expect(machine.sessions.userMessages()).toEqual(['write', 'review', 'learn']);
    expect(machine.sessions.world.sessions.size).toBe(1);
    expect(applied).toEqual(['answer to review', 'answer to learn']);
    expect(typesOf(await service.events(ID))).toEqual([
      'execution_opened',
      'phase_started main_execution',
      'phase_completed main_execution',
      'phase_started pre_validation',
      'phase_completed pre_validation',
      'pre_validation_passed',
      'phase_started kb_review',
      'learning_continuation_resumed kb_review',
      'phase_completed kb_review',
      'kb_review_completed kb_review',
      'phase_started direct_learning',
      'learning_continuation_resumed direct_learning',
      'phase_completed direct_learning',
      'learning_completed direct_learning',
      'phase_started auto_notification',
      'phase_completed auto_notification',
      'auto_notification_sent',
      'execution_ended',
    ]);
    expect(service.told.map(({ outcome }) => outcome)).toEqual(['completed']);
    expect(service.engine.jobs.size).toBe(0);
  });
});
