import { AuthRequiredError } from '@holdfast/agent';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CodingThreadError } from '../threads/coding-thread-error.js';
import { implementJob } from '../threads/contract/__fixtures__/coding-jobs.js';
import { extractReceipt } from '../threads/contract/extract-receipt.js';
import { isUuid } from '../threads/contract/uuid.js';
import { type Script, ScriptedJobs } from '../threads/stages/__fixtures__/scripted-jobs.js';
import { instantClock, stage, stageThreads } from '../threads/stages/__fixtures__/stage-bench.js';
import { createCodingStages } from '../threads/stages/create-coding-stages.js';
import { recoverExecutions } from '../workflow/recover-executions.js';
import { defineWorkflow, type StepDefinition } from '../workflow/workflow-definition.js';
import { type Death, MemoryDisk, MemoryStore } from './__fixtures__/memory-store.js';
import { createMachine, createService, type Machine, start } from './__fixtures__/world.js';
import { workflowProcessId } from './workflow-process-id.js';

let machine: Machine;
beforeEach(async () => {
  machine = await createMachine();
});
afterEach(() => machine.dispose());

/** Long enough for a machine that is busy. */
const WAIT = { timeout: 20_000 };
const thread = {
  runnerId: 'personal',
  sessionRef: '019a0000-0000-7000-8000-00000000000a',
  stageId: 'stage-A',
  mode: 'new',
} as const;
const script: Script = {
  implement: [{ patch: '1' }, { patch: '2', claims: ['f1'] }],
  review: [{ findings: ['f1'] }, { findings: [] }],
};

interface World {
  readonly disk?: MemoryDisk;
  readonly death?: Death;
  readonly jobs?: ScriptedJobs;
  readonly script?: Script;
}

/** A service whose coding steps are done by scripted workers. */
function serve(steps: readonly StepDefinition[], world: World = {}) {
  const { disk = new MemoryDisk(), death } = world;
  const outside = new MemoryStore(disk);
  const jobs = world.jobs ?? new ScriptedJobs(outside, world.script ?? script);
  const store = new MemoryStore(disk, death);
  const stages = createCodingStages({
    ...{ store, jobs, clock: instantClock() },
    threads: stageThreads(outside),
  });
  const coding = { submit: jobs.submit, find: jobs.find, runStage: stages.run };
  const workflows = [defineWorkflow({ id: 'report', steps })];
  const service = createService(machine, { store, workflows, coding });
  const begin = async (step: string) => {
    const key = { ...start.key, step };
    const { ownerKind, workflowId } = start;
    return await service.executions.start({ key, ownerKind, workflowId });
  };
  const runStep = async (step: string) => {
    const { executionId } = await begin(step);
    await service.engine.run();
    return await service.executions.get(executionId);
  };
  return { ...service, jobs, disk, store, begin, runStep };
}

describe('a step whose work is a coding job', () => {
  it('gives later steps its receipt, and they go on in its conversation', async () => {
    const service = serve([
      { id: 'build', coding: () => implementJob({ thread }) },
      {
        id: 'close',
        coding: ({ answers }) => {
          const expectedCheckpoint = extractReceipt(answers['build'])?.checkpoint;
          return implementJob({ thread: { ...thread, mode: 'close', expectedCheckpoint } });
        },
      },
    ]);
    expect(await service.runStep('build')).toMatchObject({ outcome: 'completed' });
    const closed = await service.runStep('close');
    expect(closed.outcome).toBe('completed');
    expect(extractReceipt(closed.answer)).toMatchObject({ state: 'CLOSED' });
    expect(service.jobs.seen.map(({ line }) => line)).toEqual(['implement new', 'implement close']);
    const [job] = service.jobs.seen;
    expect(job?.input.coding.thread?.operationId).toSatisfy(isUuid);
    expect([...service.jobs.jobs.values()].every(({ acknowledged }) => acknowledged)).toBe(true);
  });

  it('is begun once, whichever write of the service was the last: with the same ids', async () => {
    const steps = () => {
      let count = 0;
      const coding = () => {
        count += 1;
        return implementJob({ thread, maximumChangedFiles: count });
      };
      return [{ id: 'build', coding }];
    };
    const whole = serve(steps());
    await whole.runStep('build');
    for (let at = 1; at <= whole.store.writes; at += 1) {
      const first = serve(steps(), { death: { at, when: 'after' } });
      await first.runStep('build').catch(() => {});
      first.disk.dropLeases();
      const second = serve(steps(), { disk: first.disk, jobs: first.jobs });
      second.engine.inherit(first.engine);
      expect(await second.runStep('build'), `write ${at}`).toMatchObject({ outcome: 'completed' });
      expect(second.jobs.seen, `write ${at}`).toHaveLength(1);
    }
  });

  it('is gone on with at the next start, though it names no agent', async () => {
    const service = serve([{ id: 'build', coding: () => implementJob({ thread }) }]);
    const { executionId } = await service.begin('build');
    const { queued, left } = await recoverExecutions(service.context);
    expect(queued.map((one) => one.executionId)).toEqual([executionId]);
    expect(left).toEqual([]);
  });

  it('submits another try of the same operation where the first failed before it began', async () => {
    const error = new CodingThreadError('runner_unfit', 'Another binary stands here.');
    const service = serve([{ id: 'build', coding: () => implementJob({ thread }) }], {
      script: { implement: [{ error }, { patch: '1' }], review: [] },
    });
    expect(await service.runStep('build')).toMatchObject({ outcome: 'completed' });
    const [first, second] = service.jobs.seen;
    expect(second?.jobId).toBe(`${first?.jobId}.2`);
    expect(second?.input).toEqual(first?.input);
  });

  it('fails with a job whose end nobody knows: it is never run again by itself', async () => {
    const service = serve([{ id: 'build', coding: () => implementJob({ thread }) }], {
      script: { implement: [{ lost: 'submitted' }], review: [] },
    });
    const state = await service.runStep('build');
    expect(state.outcome).toBe('failed');
    expect(state.phases.main_execution?.errorJson).toMatchObject({
      family: 'coding',
      kind: 'execution_unknown',
      facts: { retry: 'inspect' },
    });
    expect(service.jobs.seen).toHaveLength(1);
  });

  it('cancels its job when it is stopped', async () => {
    const service = serve([{ id: 'build', coding: () => implementJob({ thread }) }]);
    service.jobs.onRun = async () => 'held';
    const { executionId } = await service.begin('build');
    const ran = service.engine.run();
    await vi.waitFor(() => expect(service.jobs.seen).toHaveLength(1), WAIT);
    await service.executions.stop(executionId, 'not wanted');
    await ran;
    expect((await service.executions.get(executionId)).outcome).toBe('stopped');
    const [job] = service.jobs.jobs.values();
    expect(job?.end).toMatchObject({
      class: 'cancelled',
      reason: expect.stringContaining('not wanted'),
    });
  });

  it('says what createBuilder must be given where there are no runners', async () => {
    const workflows = [
      defineWorkflow({ id: 'report', steps: [{ id: 'build', coding: () => implementJob() }] }),
    ];
    const service = createService(machine, { workflows });
    const key = { ...start.key, step: 'build' };
    const { executionId } = await service.executions.start({
      ...{ key, ownerKind: 'workflow_step', workflowId: 'report' },
    });
    await service.engine.run();
    const { outcome, phases } = await service.executions.get(executionId);
    expect(outcome).toBe('failed');
    expect(phases.main_execution?.error).toContain('createBuilder({ coding })');
  });

  it('fails where its outcome does not pass validation: nobody could mend it in a session', async () => {
    const preValidate = () => ({ passed: false, feedback: 'no' }) as const;
    const service = serve([{ id: 'build', coding: () => implementJob({ thread }), preValidate }]);
    expect(await service.runStep('build')).toMatchObject({ outcome: 'failed' });
    expect(service.jobs.seen).toHaveLength(1);
  });
});

describe('a step whose work is a stage', () => {
  const steps: readonly StepDefinition[] = [
    { id: 'a', stage: () => stage },
    {
      id: 'b',
      stage: ({ answers }) => ({
        ...stage,
        stageId: 'stage-B',
        requirements: `After ${JSON.parse(answers['a'] ?? '').patchDigest}`,
      }),
    },
  ];

  it('runs two stages of one run with references of their own, for the same owner', async () => {
    const service = serve(steps, {
      script: { implement: [{ patch: '1' }], review: [{ findings: [] }] },
    });
    const owners = new Set<string>();
    service.jobs.onSubmit = ({ owner }) => void owners.add(JSON.stringify(owner));
    for (const step of ['a', 'b']) {
      const { outcome, answer } = await service.runStep(step);
      expect(outcome).toBe('completed');
      expect(JSON.parse(answer ?? '')).toMatchObject({ outcome: 'accepted' });
    }
    const refs = service.jobs.seen.map(({ input }) => input.coding.thread?.sessionRef);
    expect(new Set(refs).size).toBe(4);
    const processId = workflowProcessId(start.key);
    expect(isUuid(processId)).toBe(true);
    expect([...owners]).toEqual([JSON.stringify({ kind: 'workflow', processId })]);
    expect(workflowProcessId({ ...start.key, group: 'other' })).not.toBe(processId);
  });

  it('goes on with the same stage after the service died in the middle of it', async () => {
    const first = serve(steps, { death: { at: 25, when: 'after' } });
    await first.runStep('a').catch(() => {});
    expect(first.store.isDead).toBe(true);
    first.disk.dropLeases();
    const second = serve(steps, { disk: first.disk, jobs: first.jobs });
    second.engine.inherit(first.engine);
    expect(await second.runStep('a')).toMatchObject({ outcome: 'completed' });
    expect(second.jobs.seen.map(({ line }) => line)).toEqual([
      'implement new',
      'review new candidate 1',
      'implement resume mend f1',
      'review resume candidate 2 after f1',
      'implement close',
      'review close',
    ]);
  });

  it('waits for what must change outside, without counting an attempt, and goes on then', async () => {
    const error = new AuthRequiredError('signed out');
    const service = serve(steps, {
      script: {
        implement: [{ error }, { error }, { patch: '1' }],
        review: [{ findings: [] }],
      },
    });
    const { phases } = await service.runStep('a');
    expect(phases.main_execution).toMatchObject({
      suspended: { reason: 'auth_required' },
      attempt: 0,
    });
    await service.executions.resume('1~main~a');
    await service.engine.run();
    expect(await service.executions.get('1~main~a')).toMatchObject({ outcome: 'completed' });
  });

  it('waits as well where a claimed turn ran into it: the thread is looked at first', async () => {
    const waitsFor = JSON.parse(JSON.stringify(new AuthRequiredError('signed out').toJSON()));
    const error = new CodingThreadError('thread_failed', 'it failed', { evidence: { waitsFor } });
    const service = serve(steps, {
      script: { implement: [{ error }, { patch: '1' }], review: [{ findings: [] }] },
    });
    const { phases } = await service.runStep('a');
    expect(phases.main_execution).toMatchObject({ suspended: { reason: 'auth_required' } });
    await service.executions.resume('1~main~a');
    await service.engine.run();
    expect(await service.executions.get('1~main~a')).toMatchObject({ outcome: 'completed' });
  });

  it('fails with what the stage says a person can do', async () => {
    const service = serve(steps, {
      script: { implement: [{ patch: '1' }, 'no-change'], review: [{ findings: ['f1'] }] },
    });
    const { outcome, phases } = await service.runStep('a');
    expect(outcome).toBe('failed');
    expect(phases.main_execution).toMatchObject({
      error: expect.stringContaining('stage-A stopped in round 2'),
      errorJson: { family: 'coding', kind: 'stage_failed', facts: { reason: 'no_progress' } },
    });
  });

  it('cancels the open job of a stage that was stopped while nobody ran it', async () => {
    const first = serve(steps);
    first.jobs.onRun = async () => 'held';
    const { executionId } = await first.begin('a');
    const ran = first.engine.run();
    await vi.waitFor(() => expect(first.jobs.seen).toHaveLength(1), WAIT);
    first.engine.signal.abort(new TypeError('closing'));
    await ran;
    const second = serve(steps, { disk: first.disk, jobs: first.jobs });
    second.engine.inherit(first.engine);
    await second.executions.stop(executionId, 'not wanted');
    await second.engine.run();
    const [job] = second.jobs.jobs.values();
    expect(job?.end).toMatchObject({ class: 'cancelled' });
    expect((await second.executions.get(executionId)).outcome).toBe('stopped');
  });
});

describe('the definition of a coding step', () => {
  it('needs exactly one kind of work', () => {
    const both = { id: 'x', agent: 'a', prompt: 'p', stage: () => stage };
    const none = { id: 'x', agent: 'a' };
    for (const step of [both, none]) {
      const define = () => defineWorkflow({ id: 'w', steps: [step as unknown as StepDefinition] });
      expect(define).toThrow(/exactly one of prompt, coding and stage/);
    }
  });

  it('has what comes after it done in the session of another agent', () => {
    const step = { id: 'x', stage: () => stage, learning: { prompt: 'learn' } };
    const define = () => defineWorkflow({ id: 'w', steps: [step as unknown as StepDefinition] });
    expect(define).toThrow(/no session of its own/);
  });
});
