import { describe, expect, it } from 'vitest';
import type { ContinuationState, PhaseRecord } from './continuation-state.js';
import { decideNext, judgeOutcome, type NextStep } from './next-phase.js';
import { changePhase, owePhases } from './phase-record.js';
import { isSettled, PHASES, type Phase, type PhaseStatus } from './phases.js';

const AT = '2026-01-01T00:00:00.000Z';
const NOW = Date.parse(AT);
const LATER = '2026-01-01T01:00:00.000Z';
const STATUSES: readonly (PhaseStatus | undefined)[] = [
  undefined,
  'pending',
  'running',
  'waiting_for_lock',
  'recovery_queued',
  'completed',
  'failed',
  'skipped',
];
const VARIED = ['main_execution', 'pre_validation', 'kb_review', 'auto_notification'] as const;
const OWED: readonly Phase[] = [...VARIED, 'direct_learning'];

function stateOf(phases: { readonly [Name in Phase]?: Partial<PhaseRecord> }): ContinuationState {
  const records = Object.entries(phases).map(([phase, record]) => [
    phase,
    { status: 'pending', updatedAt: AT, attempt: 0, turns: [], ...record },
  ]);
  return {
    schemaVersion: 2,
    runFolder: '1/main',
    stepId: 'draft',
    ownerKind: 'workflow_step',
    phases: Object.fromEntries(records),
    updatedAt: AT,
    executionId: '1~main~draft',
    createdAt: AT,
    outcome: 'open',
    terminals: [],
  };
}

/** Every combination of statuses of four phases. */
function* listStates(): Generator<ContinuationState> {
  const combinations = VARIED.reduce<readonly (PhaseStatus | undefined)[][]>(
    (all, _phase) => all.flatMap((one) => STATUSES.map((status) => [...one, status])),
    [[]],
  );
  for (const statuses of combinations) {
    const present = VARIED.flatMap((phase, index) => {
      const status = statuses[index];
      return status ? [[phase, { status }] as const] : [];
    });
    yield stateOf(Object.fromEntries(present));
  }
}

const facts = (isStopped: boolean) => ({ owed: OWED, now: NOW, isStopped });
const statusOf = (state: ContinuationState, phase: Phase) => state.phases[phase]?.status;
const describeState = (state: ContinuationState) =>
  VARIED.map((phase) => statusOf(state, phase) ?? 'absent').join(' ');

/** What the driver makes of a decision, with every phase that runs completed. */
function apply(state: ContinuationState, next: NextStep): ContinuationState {
  switch (next.type) {
    case 'run':
      return changePhase(state, next.phase, { status: 'completed' });
    case 'owe':
      return owePhases(state, next.phases, AT);
    case 'skip': {
      const errorJson = {
        family: 'workflow',
        kind: 'execution_stopped',
        name: '',
        message: '',
        facts: {},
      };
      return next.phases.reduce(
        (one, phase) =>
          changePhase(one, phase, {
            status: 'skipped',
            ...(next.because === 'stopped' ? { errorJson } : {}),
          }),
        state,
      );
    }
    case 'end':
      return { ...state, outcome: next.outcome };
    default:
      throw new Error(`nothing follows ${next.type}`);
  }
}

describe('decideNext', () => {
  it('ends every state a file can hold, and begins no phase before the ones in front of it are settled', () => {
    let states = 0;
    for (const first of listStates()) {
      for (const isStopped of [false, true]) {
        states += 1;
        const name = `${describeState(first)} ${isStopped ? 'stopped' : ''}`;
        const ran: Phase[] = [];
        let state = first;
        for (let steps = 0; state.outcome === 'open'; steps += 1) {
          expect(steps, name).toBeLessThan(12);
          const next = decideNext(state, facts(isStopped));
          if (next.type === 'run') {
            const before = PHASES.slice(0, PHASES.indexOf(next.phase));
            for (const phase of before) {
              const status = statusOf(state, phase);
              expect(status === undefined || isSettled(status), `${name}: ${phase}`).toBe(true);
            }
            expect(isSettled(statusOf(state, next.phase) ?? 'pending'), name).toBe(false);
            ran.push(next.phase);
          }
          state = apply(state, next);
        }
        expect(new Set(ran).size, name).toBe(ran.length);
        const hasFailed =
          statusOf(first, 'main_execution') === 'failed' ||
          statusOf(first, 'pre_validation') === 'failed';
        // What failed or was stopped runs nothing but the news of it.
        if (hasFailed || isStopped) {
          expect(
            ran.filter((phase) => phase !== 'auto_notification'),
            name,
          ).toEqual([]);
        }
        if (hasFailed) expect(state.outcome, name).not.toBe('completed');
        expect(statusOf(state, 'auto_notification'), name).not.toBe(undefined);
      }
    }
    expect(states).toBe(2 * 8 ** 4);
  });

  it('leaves what has ended alone', () => {
    for (const outcome of ['completed', 'failed', 'stopped'] as const) {
      const state = { ...stateOf({ main_execution: {} }), outcome };
      expect(decideNext(state, facts(true))).toEqual({ type: 'ended', outcome });
    }
  });

  it('owes all that is due at once when the main work has passed', () => {
    const state = stateOf({
      main_execution: { status: 'completed' },
      pre_validation: { status: 'completed' },
    });
    expect(decideNext(state, facts(false))).toEqual({
      type: 'owe',
      phases: ['kb_review', 'auto_notification', 'direct_learning'],
    });
  });

  it('waits for the end of a limit and for a retry, and no longer', () => {
    const suspended = { reason: 'rate_limited', until: LATER, detail: 'limit' } as const;
    for (const record of [{ suspended }, { notBefore: LATER }]) {
      const state = stateOf({ main_execution: { status: 'running', ...record } });
      const early = decideNext(state, facts(false));
      expect(early).toMatchObject({ type: 'wait', phase: 'main_execution', until: LATER });
      const late = decideNext(state, { ...facts(false), now: Date.parse(LATER) });
      expect(late).toEqual({ type: 'run', phase: 'main_execution' });
    }
  });

  it('parks what waits for a person, and skips even that when it was stopped', () => {
    const suspended = { reason: 'auth_required', detail: 'sign in' } as const;
    const state = stateOf({ main_execution: { status: 'running', suspended } });
    expect(decideNext(state, facts(false))).toMatchObject({ type: 'park' });
    expect(decideNext(state, facts(true))).toMatchObject({ type: 'skip', because: 'stopped' });
  });

  it('lets an instant that is none hold nothing up', () => {
    const state = stateOf({ main_execution: { status: 'running', notBefore: 'soon' } });
    expect(decideNext(state, facts(false))).toEqual({ type: 'run', phase: 'main_execution' });
  });

  it('fails no execution for what comes after its main work', () => {
    const completed = { status: 'completed' } as const;
    const failed = { status: 'failed' } as const;
    const done = { main_execution: completed, pre_validation: completed };
    expect(judgeOutcome(stateOf({ ...done, kb_review: failed }))).toBe('completed');
    expect(judgeOutcome(stateOf({ ...done, auto_notification: failed }))).toBe('completed');
    expect(judgeOutcome(stateOf({ ...done, pre_validation: failed }))).toBe('failed');
  });
});

describe('a wait that a clock gave which ran years ahead', () => {
  const ahead = { updatedAt: '2036-01-01T00:00:00.000Z' };
  const until = '2036-01-01T00:00:01.000Z';
  const suspended = { reason: 'rate_limited', detail: 'limited', until } as const;

  it.each([
    ['of a retry', { ...ahead, notBefore: until }],
    ['of a limit', { ...ahead, suspended }],
  ])('%s holds nothing up once the clock is right again', (_what, record) => {
    const state = stateOf({ main_execution: record });
    expect(decideNext(state, facts(false))).toEqual({ type: 'run', phase: 'main_execution' });
  });

  it('is kept where the clock only went back a little, and where a person is waited for', () => {
    const soon = { updatedAt: '2026-01-01T00:00:30.000Z', notBefore: LATER };
    expect(decideNext(stateOf({ main_execution: soon }), facts(false)).type).toBe('wait');
    const parked = { ...ahead, suspended: { reason: 'auth_required', detail: 'sign in' } } as const;
    expect(decideNext(stateOf({ main_execution: parked }), facts(false)).type).toBe('park');
  });
});
