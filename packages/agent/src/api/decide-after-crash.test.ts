import { describe, expect, it } from 'vitest';
import { type CrashDecision, decideAfterCrash } from './decide-after-crash.js';
import type { TurnPosition } from './turn-position.js';

/** By `onInterrupted` and whether the tool may be called again: fail, fail + repeatable, resume, resume + repeatable. */
const always = (one: CrashDecision) => [one, one, one, one] as const;

const table: Record<TurnPosition['at'], readonly CrashDecision[]> = {
  unknown: always('take_message_in'),
  ended: always('replay_outcome'),
  superseded: always('end_superseded'),
  step_due: always('request_step'),
  step_open: always('request_step'),
  answered: always('end_turn'),
  call_due: always('judge_call'),
  approval_open: always('ask_again'),
  call_allowed: always('make_call'),
  call_refused: always('tell_refused'),
  call_open: ['fail_interrupted', 'fail_interrupted', 'tell_unknown', 'make_call_again'],
};

const rows = Object.entries(table).flatMap(([at, decisions]) =>
  decisions.map((decision, index) => ({
    at: at as TurnPosition['at'],
    onInterrupted: index < 2 ? ('fail' as const) : ('resume' as const),
    isRepeatable: index % 2 === 1,
    decision,
  })),
);

describe('what to do after a crash', () => {
  it.each(rows)(
    'at $at, on interruption $onInterrupted, repeatable $isRepeatable: $decision',
    ({ decision, ...situation }) => {
      expect(decideAfterCrash(situation)).toBe(decision);
    },
  );

  it('makes a call whose end nobody saw again only where its server allows it and the caller asked for it', () => {
    const again = rows.filter(
      (row) => row.at === 'call_open' && decideAfterCrash(row).startsWith('make_call'),
    );
    expect(again).toMatchObject([{ onInterrupted: 'resume', isRepeatable: true }]);
  });
});
