import { describe, expect, it } from 'vitest';
import {
  isContinuationError,
  NonApplicableError,
  NonContinuableError,
  StaleHandleError,
} from './continuation-error.js';
import { errorFromJson } from './error-from-json.js';
import * as turn from './turn-error.js';

const errors = [
  new NonApplicableError('openai'),
  new NonContinuableError('claude-code', 'launch_record', 'give it'),
  new StaleHandleError('codex-cli', 'model', { old: 'a', new: 'b' }),
  new turn.SessionBusyError({ kind: 'ours', pid: 7 }),
  new turn.UncertainDeliveryError({
    what: 'no one saw',
    journal: 'submitting',
    record: 'open',
    process: 'gone',
  }),
  new turn.TurnInterruptedError({ accepted: true, inHistory: false, why: 'it died' }),
  new turn.TurnConflictError('t'),
  new turn.HistoryDivergedError(3),
  new turn.UndeliverableMessageError('tab', 'A tab.'),
  new turn.BlockedError('trust', 'Do you trust?'),
  new turn.AuthRequiredError('401'),
  new turn.RateLimitedError('429', '2030-01-01T00:00:00Z'),
  new turn.HistoryRejectedError('400'),
  new turn.NativeHistoryMissingError('id', 'gone'),
  new turn.ProviderFailedError('overloaded', '529'),
  new turn.CliUnusableError('tmux', 'too_old', '3.1'),
  new turn.StateUnusableError('/x', 'full', 'no room'),
  new turn.TimedOutError({ awaiting: 'it', limitMs: 5, layer: 'agent' }),
];

describe('errorFromJson', () => {
  it.each(errors.map((error) => [error.kind, error] as const))(
    'brings %s back with every fact',
    (_kind, error) => {
      for (const carried of [JSON.parse(JSON.stringify(error)), structuredClone(error.toJSON())]) {
        const back = errorFromJson(carried);
        expect(back).toBeInstanceOf(error.constructor);
        expect(turn.isTurnError(back) || isContinuationError(back)).toBe(true);
        expect(back?.message).toBe(error.message);
        expect(JSON.parse(JSON.stringify(back))).toEqual(JSON.parse(JSON.stringify(error)));
      }
    },
  );

  it('gives nothing for what is not such an object', () => {
    for (const value of [
      undefined,
      null,
      1,
      'x',
      {},
      { family: 'turn', kind: 'blocked' },
      { family: 'turn', kind: 'no_such', message: '', facts: {} },
    ]) {
      expect(errorFromJson(value)).toBeUndefined();
    }
  });
});
