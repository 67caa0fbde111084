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

let machine: Machine;
beforeEach(async () => {
  machine = await createMachine();
});
afterEach(() => machine.dispose());

describe('a stop', () => {
  it('keeps what was not begun from ever beginning, and tells of it', async () => {
    const service = createService(machine, {
      workflows: [workflowOf({ kbReview: { prompt: 'review' } })],
    });
    await service.executions.start(start);
    await service.executions.stop(ID, 'the user said so');
    await service.engine.run();
    const { outcome, phases } = await service.executions.get(ID);
    expect(outcome).toBe('stopped');
    expect(phases.main_execution).toMatchObject({ status: 'skipped', attempt: 0 });
    expect(machine.sessions.userMessages()).toEqual([]);
    expect(service.told.map((one) => one.outcome)).toEqual(['stopped']);
    expect(service.told[0]?.text).toContain('the user said so');
    expect((await service.events(ID)).at(-1)).toMatchObject({
      type: 'execution_ended',
      outcome: 'stopped',
    });
  });

  it('interrupts the turn that runs, and nothing comes after it', async () => {
    const service = createService(machine, { workflows: [workflowOf({ prompt: ['one', 'two'] })] });
    await service.executions.start(start);
    const held = machine.holdTurn();
    const run = service.engine.run();
    await held;
    await service.executions.stop(ID, 'enough');
    await run;
    expect((await service.executions.get(ID)).outcome).toBe('stopped');
    expect(machine.sessions.userMessages()).toEqual(['one']);
  });

  it('is seen by the driver of another process, while a turn runs there', async () => {
    const disk = new MemoryDisk();
    const workflows = [workflowOf({})];
    const driver = createService(machine, { store: new MemoryStore(disk), workflows });
    const other = createService(machine, { store: new MemoryStore(disk), workflows });
    await driver.executions.start(start);
    const held = machine.holdTurn();
    const run = driver.engine.run();
    await held;
    await other.executions.stop(ID, 'from elsewhere');
    await run;
    expect((await driver.executions.get(ID)).outcome).toBe('stopped');
  });

  it('reaches all that is owned, also what begins after it', async () => {
    const service = createService(machine, { workflows: [workflowOf({})] });
    await service.executions.start(start);
    const child = (step: string) =>
      ({
        key: { ...KEY, step },
        ownerKind: 'sub_agent',
        agent: 'coder',
        prompt: step,
        owner: { kind: 'execution', executionId: ID },
      }) as const;
    const { executionId } = await service.executions.start(child('agent-1'));
    await service.executions.stop(ID, 'enough');
    await expect(service.executions.start(child('agent-2'))).rejects.toMatchObject({
      kind: 'execution_stopped',
    });
    await service.engine.run();
    expect((await service.executions.get(executionId)).outcome).toBe('stopped');
    expect((await service.executions.get(ID)).outcome).toBe('stopped');
    expect(machine.sessions.userMessages()).toEqual([]);
  });

  it('leaves what has ended as it is', async () => {
    const service = createService(machine, { workflows: [workflowOf({})] });
    await service.executions.start(start);
    await service.engine.run();
    await service.executions.stop(ID, 'too late');
    await service.engine.run();
    expect((await service.executions.get(ID)).outcome).toBe('completed');
    expect(service.told.length).toBe(1);
  });
});
