import { describe, expect, it } from 'vitest';
import { type CrashState, decideAfterCrash } from './decide-after-crash.js';

const journals = ['none', 'prepared', 'submitting', 'accepted', 'ended'] as const;
const records = [
  'no_message',
  'blocked',
  'open',
  'ended',
  'failed',
  'interrupted',
  'abandoned',
  'untrustworthy',
] as const;
const processes = ['gone', 'idle', 'busy', 'waiting', 'unknown'] as const;
const booleans = [false, true] as const;

const all: CrashState[] = journals.flatMap((journal) =>
  records.flatMap((record) =>
    processes.flatMap((process) =>
      booleans.flatMap((nativeIdChanged) =>
        booleans.flatMap((durableBeforeTools) =>
          booleans.flatMap((failureRaised) =>
            (['fail', 'resume'] as const).map((onInterrupted) => ({
              journal,
              record,
              process,
              nativeIdChanged,
              durableBeforeTools,
              failureRaised,
              onInterrupted,
            })),
          ),
        ),
      ),
    ),
  ),
);

const sends = new Set(['send', 'go_on_from_open', 'press_or_prove_empty']);
const state = (part: Partial<CrashState>): CrashState => ({
  journal: 'submitting',
  record: 'no_message',
  process: 'gone',
  nativeIdChanged: false,
  durableBeforeTools: true,
  failureRaised: false,
  onInterrupted: 'fail',
  ...part,
});

describe('the table after a crash', () => {
  it('answers every combination', () => {
    expect(all).toHaveLength(5 * 8 * 5 * 2 * 2 * 2 * 2);
    for (const one of all) expect(decideAfterCrash(one)).toMatch(/^[a-z_]+$/);
  });

  it('never sends a message the record holds, or once held', () => {
    for (const one of all) {
      const held =
        one.journal === 'accepted' ||
        one.journal === 'ended' ||
        (one.journal === 'submitting' && one.record !== 'no_message');
      if (held) expect(sends.has(decideAfterCrash(one)), JSON.stringify(one)).toBe(false);
    }
  });

  it('sends nothing into an unknown process or past an untrustworthy record', () => {
    for (const one of all) {
      if (one.journal !== 'submitting') continue;
      if (one.process === 'unknown' || one.record === 'untrustworthy' || one.nativeIdChanged)
        expect(sends.has(decideAfterCrash(one)), JSON.stringify(one)).toBe(false);
    }
  });

  it('nudges only a message that was accepted, with leave or after a raised failure', () => {
    for (const one of all) {
      if (decideAfterCrash(one) !== 'nudge') continue;
      expect(one.onInterrupted === 'resume' || (one.record === 'failed' && one.failureRaised)).toBe(
        true,
      );
      expect(['submitting', 'accepted']).toContain(one.journal);
    }
  });

  it.each([
    [state({ journal: 'none' }), 'send'],
    [state({ journal: 'prepared' }), 'go_on_from_open'],
    [state({}), 'send'],
    [state({ durableBeforeTools: false }), 'uncertain'],
    [state({ process: 'idle' }), 'press_or_prove_empty'],
    [state({ process: 'busy' }), 'wait'],
    [state({ record: 'blocked', process: 'idle' }), 'refuse_undeliverable'],
    [state({ record: 'untrustworthy' }), 'uncertain'],
    [state({ process: 'unknown' }), 'uncertain'],
    [state({ journal: 'accepted', record: 'ended' }), 'return_recorded'],
    [state({ journal: 'accepted', record: 'failed' }), 'raise_failure'],
    [state({ journal: 'accepted', record: 'failed', failureRaised: true }), 'nudge'],
    [state({ journal: 'accepted', record: 'open', process: 'busy' }), 'wait'],
    [state({ journal: 'accepted', record: 'open' }), 'fail_interrupted'],
    [state({ journal: 'accepted', record: 'open', onInterrupted: 'resume' }), 'finish_interrupted'],
    [state({ journal: 'accepted', record: 'abandoned', onInterrupted: 'resume' }), 'nudge'],
    [
      state({ journal: 'accepted', record: 'open', process: 'idle', onInterrupted: 'resume' }),
      'nudge',
    ],
    [state({ nativeIdChanged: true }), 'stale'],
    [state({ journal: 'ended', nativeIdChanged: true }), 'replay'],
  ] as const)('decides %j as %s', (one, decision) => {
    expect(decideAfterCrash(one)).toBe(decision);
  });
});
