import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryDisk, MemoryStore } from './__fixtures__/memory-store.js';
import {
  createMachine,
  createService,
  ID,
  KEY,
  type Machine,
  start,
  workflowOf,
} from './__fixtures__/world.js';

const TURN = '11111111-1111-4111-8111-111111111111';
const OWNER = { kind: 'execution', executionId: ID } as const;

let machine: Machine;
beforeEach(async () => {
  machine = await createMachine();
});
afterEach(() => machine.dispose());

const messageOf = (whenBusy: 'wait' | 'steer' = 'wait') => ({
  owner: OWNER,
  turnId: TURN,
  text: 'news',
  whenBusy,
  signal: new AbortController().signal,
});

describe('a message for the session of an execution', () => {
  it('continues the session of one that has ended, once for its turn id', async () => {
    const service = createService(machine, { workflows: [workflowOf({})] });
    await service.executions.start(start);
    await service.engine.run();
    for (let time = 0; time < 2; time += 1) {
      const delivery = await service.sessions.send(messageOf());
      expect(delivery).toMatchObject({
        state: 'turn_completed',
        result: { answer: 'answer to news', turnId: TURN },
      });
    }
    expect(machine.sessions.userMessages()).toEqual(['write', 'news']);
    expect(machine.sessions.world.sessions.size).toBe(1);
    expect((await service.executions.get(ID)).answer).toBe('answer to write');
  });

  it('waits for the turn that runs, and the answer to it is the one that is validated', async () => {
    const service = createService(machine, { workflows: [workflowOf({})] });
    await service.executions.start(start);
    const held = machine.holdTurn();
    const run = service.engine.run();
    const { release } = await held;
    const sent = service.sessions.send(messageOf());
    release();
    await Promise.all([run, sent]);
    expect(machine.sessions.userMessages()).toEqual(['write', 'news']);
  });

  it('waits where the running turn takes nothing in', async () => {
    const service = createService(machine, { workflows: [workflowOf({})] });
    await service.executions.start(start);
    const held = machine.holdTurn();
    const run = service.engine.run();
    const { release } = await held;
    const sent = service.sessions.send(messageOf('steer'));
    release();
    expect((await sent).state).toBe('turn_completed');
    await run;
  });

  it('starts the session of one that never began', async () => {
    const service = createService(machine, { workflows: [workflowOf({})] });
    await service.executions.start(start);
    await service.sessions.send(messageOf());
    await service.engine.run();
    expect(machine.sessions.userMessages()).toEqual(['news', 'write']);
    expect(machine.sessions.world.sessions.size).toBe(1);
    expect((await service.executions.get(ID)).outcome).toBe('completed');
  });

  it('is refused by one that was stopped and by one that is not there', async () => {
    const service = createService(machine, { workflows: [workflowOf({})] });
    await expect(service.sessions.send(messageOf())).rejects.toMatchObject({
      kind: 'unknown_execution',
    });
    await service.executions.start(start);
    await service.executions.stop(ID, 'enough');
    await service.engine.run();
    await expect(service.sessions.send(messageOf())).rejects.toMatchObject({
      kind: 'execution_stopped',
    });
  });
});

describe('an execution that owns others', () => {
  const childOf = (step: string, ownerKind: 'sub_agent' | 'background_agent') =>
    ({
      key: { ...KEY, step },
      ownerKind,
      agent: 'coder',
      prompt: step,
      notify: OWNER,
      ...(ownerKind === 'sub_agent' ? { owner: OWNER } : {}),
    }) as const;

  it('waits for their ends, hears of each in its own session, and has its last answer validated', async () => {
    const seen: string[] = [];
    const service = createService(machine, {
      workflows: [
        workflowOf({
          preValidate: (answer) => {
            seen.push(answer);
            return { passed: true };
          },
        }),
      ],
    });
    await service.executions.start(start);
    const held = machine.holdTurn();
    const run = service.engine.run();
    const { release } = await held;
    const { executionId } = await service.executions.start(childOf('agent-1', 'sub_agent'));
    release();
    await run;
    const child = await service.executions.get(executionId);
    const parent = await service.executions.get(ID);
    expect([parent.outcome, child.outcome]).toEqual(['completed', 'completed']);
    expect(seen.length).toBe(1);
    expect(seen[0]).toContain('[AUTO-NOTIFICATION] Sub-agent coder completed');
    expect(parent.phases.main_execution?.turns.map(({ kind }) => kind)).toEqual([
      'prompt',
      'notification',
    ]);
    const told = (await service.events(ID)).filter(({ type }) => type === 'sub_agent_started');
    expect(told).toMatchObject([{ childExecutionId: executionId }]);
  });

  it('does not wait for what it does not own', async () => {
    const service = createService(machine, { workflows: [workflowOf({})] });
    await service.executions.start(start);
    await service.executions.start(childOf('agent-1', 'background_agent'));
    const parked = service.engine.jobs.get('1~main~agent-1');
    if (parked) parked.parked = 'a test holds it';
    service.engine.handle(
      'executions',
      service.engine.handler ?? (async () => ({ state: 'done' })),
    );
    await service.engine.run();
    expect((await service.executions.get(ID)).outcome).toBe('completed');
    expect((await service.executions.get('1~main~agent-1')).outcome).toBe('open');
  });

  it('fails when one of its sub-steps does not complete', async () => {
    const service = createService(machine, {
      workflows: [
        workflowOf({
          subSteps: [
            {
              id: 'part',
              agent: 'coder',
              prompt: 'part',
              maxFeedback: 0,
              preValidate: () => ({ passed: false, feedback: 'bad' }),
            },
            { id: 'never', agent: 'coder', prompt: 'never' },
          ],
        }),
      ],
    });
    await service.executions.start(start);
    await service.engine.run();
    const { outcome, phases } = await service.executions.get(ID);
    expect(outcome).toBe('failed');
    expect(phases.main_execution?.errorJson).toMatchObject({ kind: 'child_failed' });
    expect(machine.sessions.userMessages()).toEqual(['write', 'part']);
    // A sub-step tells nobody but its owner.
    expect(service.told.map(({ executionId }) => executionId)).toEqual([ID]);
  });
});

describe('two drivers of one execution', () => {
  it('run it once', async () => {
    const disk = new MemoryDisk();
    const workflows = [
      workflowOf({ kbReview: { prompt: 'review' }, learning: { prompt: 'learn' } }),
    ];
    const services = [0, 1].map(() =>
      createService(machine, { store: new MemoryStore(disk), workflows }),
    );
    await Promise.all(services.map((service) => service.executions.start(start)));
    await Promise.all(services.map((service) => service.engine.run()));
    expect(machine.sessions.userMessages()).toEqual(['write', 'review', 'learn']);
    const all = await services[0]?.events(ID);
    expect(all?.filter(({ type }) => type === 'execution_ended').length).toBe(1);
  });
});
