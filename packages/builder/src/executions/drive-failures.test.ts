import {
  AuthRequiredError,
  BlockedError,
  CliUnusableError,
  HistoryDivergedError,
  HistoryRejectedError,
  NativeHistoryMissingError,
  NonContinuableError,
  ProviderFailedError,
  RateLimitedError,
  SessionBusyError,
  StaleHandleError,
  StateUnusableError,
  TimedOutError,
  TurnConflictError,
  TurnInterruptedError,
  UncertainDeliveryError,
  UndeliverableMessageError,
} from '@holdfast/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryDisk, MemoryStore } from './__fixtures__/memory-store.js';
import {
  createMachine,
  createService,
  ID,
  type Machine,
  start,
  workflowOf,
} from './__fixtures__/world.js';

let machine: Machine;
beforeEach(async () => {
  machine = await createMachine();
});
afterEach(() => machine.dispose());

const RESET = '2026-03-01T00:00:00.000Z';
const unsure = { what: 'a test', journal: 'none', record: 'none', process: 'none' };

/** What one such error, once, makes of an execution. `parked` until a person says so. */
const VERDICTS = [
  [new RateLimitedError('limit', RESET), 'suspended'],
  [new RateLimitedError('limit'), 'suspended'],
  [new SessionBusyError({ kind: 'foreign' }), 'suspended'],
  [new CliUnusableError('claude', 'missing', 'not there'), 'suspended'],
  [new AuthRequiredError('signed out'), 'parked'],
  [new TimedOutError({ awaiting: 'an answer', limitMs: 1, layer: 'test' }), 'retried'],
  [new ProviderFailedError('overloaded', 'busy'), 'retried'],
  [new ProviderFailedError('broken_stream', 'cut'), 'retried'],
  [new ProviderFailedError('unknown', 'who knows'), 'retried'],
  [new UncertainDeliveryError(unsure), 'retried'],
  [new StateUnusableError('/state', 'full', 'no space'), 'retried'],
  [new TurnInterruptedError({ accepted: false, inHistory: false, why: 'a crash' }), 'retried'],
  [new Error('a bug'), 'retried'],
  [
    new TurnInterruptedError({ accepted: false, inHistory: false, why: 'Esc', isFinal: true }),
    'failed',
  ],
  [new ProviderFailedError('context_too_long', 'full'), 'failed'],
  [new ProviderFailedError('refusal', 'no'), 'failed'],
  [new ProviderFailedError('model_not_found', 'gone'), 'failed'],
  [new StaleHandleError('claude-code', 'model'), 'failed'],
  [new NonContinuableError('claude-code', 'history'), 'failed'],
  [new UndeliverableMessageError('control', 'a character'), 'failed'],
  [new TurnConflictError('id'), 'failed'],
  [new HistoryDivergedError(0), 'failed'],
  [new HistoryRejectedError('400'), 'failed'],
  [new NativeHistoryMissingError('id', 'gone'), 'failed'],
  [new BlockedError('trust', 'page'), 'failed'],
] as const;

function failOnce(error: Error): void {
  let isFirst = true;
  machine.sessions.onStep = (step) => {
    if (step !== 'prepared' || !isFirst) return;
    isFirst = false;
    throw error;
  };
}

describe('an error of a turn', () => {
  it.each(VERDICTS.map(([error, verdict]) => [error.message, verdict, error] as const))(
    '%s: the phase is %s',
    async (_message, verdict, error) => {
      const store = new MemoryStore(new MemoryDisk());
      const service = createService(machine, { store, workflows: [workflowOf({})] });
      failOnce(error);
      await service.executions.start(start);
      await service.engine.run();
      const { outcome, phases } = await service.executions.get(ID);
      const types = new Set((await service.events(ID)).map(({ type }) => type));
      expect(types.has('phase_suspended')).toBe(verdict === 'suspended' || verdict === 'parked');
      expect(types.has('phase_retry_scheduled')).toBe(verdict === 'retried');
      expect(types.has('phase_failed')).toBe(verdict === 'failed');
      if (verdict === 'parked') {
        expect(service.engine.jobs.get(ID)?.parked).toContain('auth_required');
        await service.executions.resume(ID);
        await service.engine.run();
        expect((await service.executions.get(ID)).outcome).toBe('completed');
      } else {
        expect(outcome).toBe(verdict === 'failed' ? 'failed' : 'completed');
        const again = verdict === 'retried' ? 2 : 1;
        // A wait is no failure: no try is counted for it. What got on has all its tries again.
        expect(service.states().some((one) => one.phases.main_execution?.attempt === again)).toBe(
          true,
        );
        expect(phases.main_execution?.attempt).toBe(verdict === 'failed' ? 1 : 1);
      }
      expect(machine.sessions.userMessages()).toEqual(verdict === 'failed' ? [] : ['write']);
      expect(service.told.map((one) => one.outcome)).toEqual([
        verdict === 'failed' ? 'failed' : 'completed',
      ]);
    },
  );

  it('keeps a limit and its end on disk, so that another process waits for it too', async () => {
    const disk = new MemoryDisk();
    const first = createService(machine, {
      store: new MemoryStore(disk),
      workflows: [workflowOf({})],
    });
    failOnce(new RateLimitedError('limit', RESET));
    first.engine.skipsTime = false;
    await first.executions.start(start);
    await first.engine.run();
    const { phases } = await first.executions.get(ID);
    expect(phases.main_execution).toMatchObject({
      status: 'running',
      attempt: 0,
      suspended: { reason: 'rate_limited', until: RESET },
    });

    disk.dropLeases();
    const second = createService(machine, {
      store: new MemoryStore(disk),
      workflows: [workflowOf({})],
    });
    second.engine.inherit(first.engine);
    second.engine.skipsTime = false;
    await second.engine.run();
    expect(second.engine.outcomes).toEqual([]);
    await second.engine.wake('executions', ID);
    await second.engine.run();
    // Woken too early, it sees for itself that the limit is not over.
    expect(second.engine.outcomes.at(-1)).toMatchObject({ state: 'later', notBefore: RESET });
    expect(machine.sessions.userMessages()).toEqual([]);
    second.engine.skipsTime = true;
    await second.engine.run();
    expect((await second.executions.get(ID)).outcome).toBe('completed');
    expect(machine.sessions.userMessages()).toEqual(['write']);
  });

  it('B123: counts a try before it is made, so that a crash gives no tries back', async () => {
    const disk = new MemoryDisk();
    let tries = 0;
    machine.sessions.onStep = async (step) => {
      if (step === 'prepared') tries += 1;
      if (step === 'prepared') throw new Error('the process died here');
    };
    let last: ReturnType<typeof createService> | undefined;
    for (let life = 0; life < 6; life += 1) {
      disk.dropLeases();
      const store = new MemoryStore(disk);
      const service = createService(machine, {
        store,
        workflows: [workflowOf({ maxAttempts: 3 })],
      });
      // It dies where it would write down what became of the try.
      machine.sessions.onStep = async (step) => {
        if (step !== 'prepared') return;
        tries += 1;
        store.isDead = true;
        throw new Error('the process died here');
      };
      if (last) service.engine.inherit(last.engine);
      await service.executions.start(start).catch(() => {});
      await service.engine.run().catch(() => {});
      last = service;
    }
    expect(tries).toBe(3);
    expect((await last?.executions.get(ID))?.outcome).toBe('failed');
    expect((await last?.executions.get(ID))?.phases.main_execution?.errorJson).toMatchObject({
      kind: 'attempts_exhausted',
    });
  });

  it('leaves an execution whose agent nobody registered as it is, and goes on once it is there', async () => {
    const disk = new MemoryDisk();
    const workflows = [workflowOf({})];
    const first = createService(machine, { store: new MemoryStore(disk), workflows });
    await first.executions.start(start);
    const second = createService(machine, {
      store: new MemoryStore(disk),
      workflows,
      agents: ['other'],
    });
    second.engine.inherit(first.engine);
    second.engine.skipsTime = false;
    await second.engine.run();
    expect(second.engine.outcomes.at(-1)).toMatchObject({ state: 'later' });
    expect((await second.executions.get(ID)).phases.main_execution?.attempt).toBe(0);
    first.engine.inherit(second.engine);
    await first.engine.run();
    expect((await first.executions.get(ID)).outcome).toBe('completed');
  });
});
