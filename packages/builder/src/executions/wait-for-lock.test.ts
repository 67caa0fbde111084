import { systemClock, waitUntil } from '@holdfast/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keys } from '../persistence/keys.js';
import { takeLearningLock } from '../workflow/learning-lock.js';
import { MemoryDisk, MemoryStore } from './__fixtures__/memory-store.js';
import {
  createMachine,
  createService,
  ID,
  KEY,
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

const workflows = [workflowOf({ kbReview: { prompt: 'review' } })];
const never = new AbortController().signal;
const takeDefault = (store: MemoryStore) =>
  takeLearningLock(store, { name: 'default', executionId: '1~main~other', signal: never });

/** A step that is done but for its review, which waits for the lock. An object: a promise would be awaited with it. */
async function waitForLock(
  service: ReturnType<typeof createService>,
): Promise<{ readonly running: Promise<void> }> {
  await service.executions.start(start);
  const running = service.engine.run();
  await waitUntil(
    async () => (await service.events(ID)).some(({ type }) => type === 'waiting_for_learning_lock'),
    { awaiting: 'the wait for the lock', deadlineMs: 20_000 },
  );
  return { running };
}

describe('a phase that waits for the learning lock', () => {
  it('says so on disk, with the handle to go on with, and goes on when it is free', async () => {
    const store = new MemoryStore(new MemoryDisk());
    const service = createService(machine, { store, workflows });
    const lock = await takeDefault(store);
    const { running } = await waitForLock(service);
    const { phases, handle } = await service.executions.get(ID);
    expect(phases.kb_review).toMatchObject({ status: 'waiting_for_lock', attempt: 1 });
    expect(phases.kb_review?.handle).toEqual(handle);
    const waiting = (await service.events(ID)).find(
      ({ type }) => type === 'waiting_for_learning_lock',
    );
    expect(waiting).toMatchObject({ phase: 'kb_review', holder: '1~main~other', position: 1 });
    expect(machine.sessions.userMessages()).toEqual(['write']);
    await lock[Symbol.asyncDispose]();
    await running;
    expect((await service.executions.get(ID)).outcome).toBe('completed');
    expect(machine.sessions.userMessages()).toEqual(['write', 'review']);
  });

  it('leaves its session to others meanwhile', async () => {
    const store = new MemoryStore(new MemoryDisk());
    const service = createService(machine, { store, workflows });
    const lock = await takeDefault(store);
    const { running } = await waitForLock(service);
    await service.sessions.send({
      owner: { kind: 'execution', executionId: ID },
      turnId: '11111111-1111-4111-8111-111111111111',
      text: 'news',
      whenBusy: 'wait',
      signal: never,
    });
    await lock[Symbol.asyncDispose]();
    await running;
    expect(machine.sessions.userMessages()).toEqual(['write', 'news', 'review']);
    expect((await service.executions.get(ID)).outcome).toBe('completed');
  });

  it('goes on after a turn of somebody else that still runs when it has the lock', async () => {
    const store = new MemoryStore(new MemoryDisk());
    const service = createService(machine, { store, workflows });
    const lock = await takeDefault(store);
    const { running } = await waitForLock(service);
    const held = machine.holdTurn();
    const sent = service.sessions.send({
      owner: { kind: 'execution', executionId: ID },
      turnId: '11111111-1111-4111-8111-111111111111',
      text: 'news',
      whenBusy: 'wait',
      signal: never,
    });
    const { release } = await held;
    await lock[Symbol.asyncDispose]();
    // It has the lock by now, and its own place is still taken.
    await waitUntil(
      async () => (await store.observe(keys.lock('default', 'lease'))).state === 'held',
      {
        awaiting: 'the lock in its hands',
        deadlineMs: 20_000,
      },
    );
    release();
    await Promise.all([sent, running]);
    expect(machine.sessions.userMessages()).toEqual(['write', 'news', 'review']);
    expect((await service.executions.get(ID)).phases.kb_review?.attempt).toBe(1);
    expect(service.engine.outcomes).toEqual([{ state: 'done' }]);
  });

  it('waits no longer once it is stopped', async () => {
    const store = new MemoryStore(new MemoryDisk());
    const service = createService(machine, { store, workflows });
    await using _lock = await takeDefault(store);
    const { running } = await waitForLock(service);
    await service.executions.stop(ID, 'enough');
    await running;
    expect((await service.executions.get(ID)).outcome).toBe('stopped');
    expect(machine.sessions.userMessages()).toEqual(['write']);
  });

  it('is gone on with by another process when its own lets go, and no try is counted', async () => {
    const disk = new MemoryDisk();
    const first = createService(machine, { store: new MemoryStore(disk), workflows });
    const lock = await takeDefault(new MemoryStore(disk));
    const { running } = await waitForLock(first);
    await first.engine.stop();
    await running;
    const { phases } = await first.executions.get(ID);
    expect(phases.kb_review).toMatchObject({ status: 'waiting_for_lock', attempt: 0 });
    await lock[Symbol.asyncDispose]();
    const second = createService(machine, { store: new MemoryStore(disk), workflows });
    second.engine.inherit(first.engine);
    await second.engine.run();
    expect((await second.executions.get(ID)).outcome).toBe('completed');
    expect(machine.sessions.userMessages()).toEqual(['write', 'review']);
    expect(typesOf(await second.events(ID))).toContain('recovery_queued kb_review');
  });
});

describe('a process that lets go of a running turn', () => {
  it('leaves the turn alone; the next process has its answer and sends nothing again', async () => {
    const disk = new MemoryDisk();
    const first = createService(machine, { store: new MemoryStore(disk), workflows });
    await first.executions.start(start);
    const held = machine.holdTurn();
    const run = first.engine.run();
    const { release } = await held;
    await first.engine.stop();
    await run;
    expect((await first.executions.get(ID)).phases.main_execution).toMatchObject({
      status: 'running',
      attempt: 0,
    });
    release();
    await waitUntil(() => machine.sessions.running.size === 0, {
      awaiting: 'the end of the turn',
      deadlineMs: 10_000,
      clock: systemClock,
    });
    const second = createService(machine, { store: new MemoryStore(disk), workflows });
    second.engine.inherit(first.engine);
    await second.engine.run();
    expect((await second.executions.get(ID)).outcome).toBe('completed');
    expect(machine.sessions.userMessages()).toEqual(['write', 'review']);
  });
});

describe('an execution whose state is gone', () => {
  it('is not begun anew: everything it sent would be sent again', async () => {
    const disk = new MemoryDisk();
    const service = createService(machine, { store: new MemoryStore(disk), workflows });
    service.engine.skipsTime = false;
    await service.executions.start(start);
    await service.engine.run();
    disk.records.delete(
      ['runs', KEY.iteration, KEY.group, 'logs', KEY.step, 'continuation_state.json'].join('/'),
    );
    await expect(service.executions.start(start)).rejects.toMatchObject({
      kind: 'state_unusable',
      reason: 'damaged',
    });
    await service.engine.run();
    expect(service.engine.outcomes.at(-1)?.state).toBe('parked');
    expect(machine.sessions.userMessages()).toEqual(['write', 'review']);
  });
});
