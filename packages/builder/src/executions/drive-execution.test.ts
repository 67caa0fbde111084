import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ContinuationState } from '../workflow/continuation-state.js';
import type { PostStepWork } from '../workflow/workflow-definition.js';
import {
  createMachine,
  createService,
  ID,
  type Machine,
  start,
  typesOf,
  workflowOf,
} from './__fixtures__/world.js';

let machine: Machine;
beforeEach(async () => {
  machine = await createMachine();
});
afterEach(() => machine.dispose());

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
      'auto_notification_sent',
      'phase_completed auto_notification',
      'execution_ended',
    ]);
    expect(service.told.map(({ outcome }) => outcome)).toEqual(['completed']);
    expect(service.engine.jobs.size).toBe(0);
  });

  it('passes through these durable states, each whole: what is owed stands there before any of it is begun', async () => {
    const review: PostStepWork = { prompt: 'review' };
    const service = createService(machine, {
      workflows: [workflowOf({ kbReview: review, learning: { prompt: 'learn' } })],
    });
    await service.executions.start(start);
    await service.engine.run();
    const chain = new Set(service.states().map(describePhases));
    expect([...chain]).toEqual([
      'main_execution:pending pre_validation:pending',
      'main_execution:running pre_validation:pending',
      'main_execution:completed pre_validation:pending',
      'main_execution:completed pre_validation:running',
      'main_execution:completed pre_validation:completed kb_review:pending direct_learning:pending auto_notification:pending',
      'main_execution:completed pre_validation:completed kb_review:waiting_for_lock direct_learning:pending auto_notification:pending',
      'main_execution:completed pre_validation:completed kb_review:running direct_learning:pending auto_notification:pending',
      'main_execution:completed pre_validation:completed kb_review:completed direct_learning:pending auto_notification:pending',
      'main_execution:completed pre_validation:completed kb_review:completed direct_learning:waiting_for_lock auto_notification:pending',
      'main_execution:completed pre_validation:completed kb_review:completed direct_learning:running auto_notification:pending',
      'main_execution:completed pre_validation:completed kb_review:completed direct_learning:completed auto_notification:pending',
      'main_execution:completed pre_validation:completed kb_review:completed direct_learning:completed auto_notification:running',
      'main_execution:completed pre_validation:completed kb_review:completed direct_learning:completed auto_notification:completed',
    ]);
    const waiting = service
      .states()
      .find(({ phases }) => phases.kb_review?.status === 'waiting_for_lock');
    expect(waiting?.phases.kb_review?.handle).toEqual(waiting?.handle);
    expect(waiting?.handle).toBeDefined();
  });

  it('sends feedback into the same session until the answer passes', async () => {
    const seen: string[] = [];
    const service = createService(machine, {
      workflows: [
        workflowOf({
          preValidate: (answer) => {
            seen.push(answer);
            return seen.length > 2
              ? { passed: true }
              : { passed: false, feedback: `no ${seen.length}` };
          },
        }),
      ],
    });
    await service.executions.start(start);
    await service.engine.run();
    const { outcome, answer, phases } = await service.executions.get(ID);
    expect(outcome).toBe('completed');
    expect(answer).toBe('answer to no 2');
    expect(machine.sessions.userMessages()).toEqual(['write', 'no 1', 'no 2']);
    expect(machine.sessions.world.sessions.size).toBe(1);
    expect(phases.main_execution?.turns.map(({ kind }) => kind)).toEqual([
      'prompt',
      'validation_feedback',
      'validation_feedback',
    ]);
  });

  it('fails after the feedback that may be sent, runs nothing that comes after, and says so', async () => {
    const service = createService(machine, {
      workflows: [
        workflowOf({
          maxFeedback: 1,
          preValidate: () => ({ passed: false, feedback: 'never' }),
          kbReview: { prompt: 'review' },
        }),
      ],
    });
    await service.executions.start(start);
    await service.engine.run();
    const { outcome, phases } = await service.executions.get(ID);
    expect(outcome).toBe('failed');
    expect(phases.pre_validation?.errorJson).toMatchObject({ kind: 'validation_failed' });
    expect(machine.sessions.userMessages()).toEqual(['write', 'never']);
    expect(service.told.map((one) => one.outcome)).toEqual(['failed']);
    const events = await service.events(ID);
    expect(events.filter(({ type }) => type === 'pre_validation_failed')).toMatchObject([
      { willRetry: true, feedback: 'never' },
      { willRetry: false },
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'execution_ended', outcome: 'failed' });
  });

  it('tries a validation that throws again, a bounded number of times', async () => {
    let tries = 0;
    const service = createService(machine, {
      workflows: [
        workflowOf({
          maxAttempts: 3,
          preValidate: () => {
            tries += 1;
            throw new Error('the disk is gone');
          },
        }),
      ],
    });
    await service.executions.start(start);
    await service.engine.run();
    const { outcome, phases } = await service.executions.get(ID);
    expect(tries).toBe(3);
    expect(outcome).toBe('failed');
    expect(phases.pre_validation?.errorJson).toMatchObject({ kind: 'attempts_exhausted' });
  });

  it('runs a sequence of messages as turns of one session, and makes each message once', async () => {
    let made = 0;
    const second = ({ answers }: { readonly answers: object }) => {
      made += 1;
      return `two of ${Object.keys(answers).length}`;
    };
    const service = createService(machine, {
      workflows: [workflowOf({ prompt: ['one', second, 'three'] })],
    });
    await service.executions.start(start);
    await service.engine.run();
    const { phases, answer } = await service.executions.get(ID);
    expect(machine.sessions.userMessages()).toEqual(['one', 'two of 0', 'three']);
    expect(machine.sessions.world.sessions.size).toBe(1);
    expect(made).toBe(1);
    expect(answer).toBe('answer to three');
    expect(new Set(phases.main_execution?.turns.map(({ kind }) => kind))).toEqual(
      new Set(['sequence_item']),
    );
  });

  it('gives agent-mode phases a session and a handle of their own', async () => {
    const service = createService(machine, {
      workflows: [
        workflowOf({
          kbReview: { mode: 'agent', agent: 'librarian', prompt: 'update' },
          learning: { mode: 'agent', prompt: 'learn' },
        }),
      ],
    });
    await service.executions.start(start);
    await service.engine.run();
    const { outcome, phases, handle } = await service.executions.get(ID);
    expect(outcome).toBe('completed');
    expect(machine.sessions.world.sessions.size).toBe(3);
    expect(phases.kb_update_agent?.handle?.sessionId).toBe(`${ID}.kb_update_agent`);
    expect(phases.kb_update_agent?.handle?.agentId).toBe(`librarian:${ID}.kb_update_agent`);
    expect(phases.learning_agent?.handle?.agentId).toBe(`coder:${ID}.learning_agent`);
    expect(handle?.sessionId).toBe(ID);
    expect(phases.kb_review).toBe(undefined);
  });

  it('fails no step for what comes after it', async () => {
    const service = createService(machine, {
      workflows: [
        workflowOf({
          maxAttempts: 2,
          kbReview: {
            prompt: 'review',
            apply: () => {
              throw new Error('no such file');
            },
          },
        }),
      ],
    });
    await service.executions.start(start);
    await service.engine.run();
    const { outcome, phases } = await service.executions.get(ID);
    expect(outcome).toBe('completed');
    expect(phases.kb_review?.status).toBe('failed');
    // The answer was on disk: only the function is called again.
    expect(machine.sessions.userMessages()).toEqual(['write', 'review']);
    expect(service.told.map((one) => one.outcome)).toEqual(['completed']);
  });

  it('keeps the terminals and the providers’ own events, numbered without a gap', async () => {
    machine.sessions.extraEvents = [
      { type: 'text_delta', text: 'a' },
      { type: 'tool_started', name: 'Bash', callId: '1' },
    ];
    const service = createService(machine, { workflows: [workflowOf({})] });
    await service.executions.start(start);
    await service.engine.run();
    const events = await service.events(ID);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_event, index) => index));
    const wrapped = events.flatMap((one) =>
      one.type === 'provider_event' ? [one.event.type] : [],
    );
    expect(wrapped).toContain('tool_started');
    expect(wrapped).not.toContain('text_delta');
    expect(wrapped).not.toContain('completed');
    const { terminals } = await service.executions.get(ID);
    expect(terminals).toMatchObject([{ state: 'current', label: 'pane' }]);
  });
});

function describePhases({ phases }: ContinuationState): string {
  return Object.entries(phases)
    .map(([phase, record]) => `${phase}:${record?.status}`)
    .join(' ');
}
