import { UncertainDeliveryError } from '@holdfast/agent';
import { backOffMs } from '../engine/back-off.js';
import { instantOf } from '../engine/job-record.js';
import { describeFailure } from './describe-failure.js';
import type { FailureVerdict } from './judge-failure.js';
import type { DeliveryState, DeliveryTarget, OutboxEntry } from './notification.js';

/** How often a target is tried until it is given up. */
const MAX_DELIVERY_ATTEMPTS = 8;

/** How one try ended. */
export type TryResult =
  | { readonly via: NonNullable<DeliveryState['via']> }
  | { readonly error: unknown; readonly verdict: FailureVerdict };

/** The state to write before a try, or that of a target whose tries are used up. */
export function beginTry(state: DeliveryState): DeliveryState {
  // It may stand in the session. A second try could put it there twice, so that a person decides.
  if (state.steering) return giveUp(state.attempts, new UncertainDeliveryError(CUT_OFF));
  // Tries that ended without a word were crashes; they count, or an entry that kills its process would do so for ever.
  if (state.attempts >= MAX_DELIVERY_ATTEMPTS) return { ...state, state: 'dead_letter' };
  return { ...state, attempts: state.attempts + 1 };
}

const CUT_OFF = {
  what: 'the process ended while it was put into a running turn',
  journal: 'begun',
  record: 'none',
  process: 'another one',
};

/** The state to write after a try. Pure. */
export function settleTry(tried: DeliveryState, result: TryResult, nowMs: number): DeliveryState {
  const { attempts, waits = 0, steering = false } = tried;
  if ('via' in result) return { state: 'delivered', attempts, via: result.via };
  const { verdict } = result;
  if (steering) return giveUp(attempts, result.error);
  const error = describeFailure(result.error);
  switch (verdict.next) {
    case 'delivered':
      return { state: 'delivered', attempts, via: 'turn', error };
    case 'give_up':
      return giveUp(attempts, result.error);
    case 'wait': {
      const until = verdict.until ?? instantOf(nowMs + backOffMs(waits + 1));
      const pending = { state: 'pending', attempts: attempts - 1, waits: waits + 1 } as const;
      return { ...pending, notBefore: until, error };
    }
    case 'retry':
      if (attempts >= MAX_DELIVERY_ATTEMPTS) return giveUp(attempts, result.error);
      return {
        state: 'pending',
        attempts,
        notBefore: instantOf(nowMs + backOffMs(attempts)),
        error,
      };
  }
}

function giveUp(attempts: number, error: unknown): DeliveryState {
  return { state: 'dead_letter', attempts, error: describeFailure(error) };
}

/** The instant at which the target may be tried; `undefined` when nothing is left to do for it. */
export function dueMs(state: DeliveryState, nowMs: number): number | undefined {
  if (state.state !== 'pending') return undefined;
  const notBefore = Date.parse(state.notBefore ?? '');
  if (Number.isNaN(notBefore)) return nowMs;
  // A clock that was set back must not turn a back-off of minutes into one of days; only a limit may last so long.
  const longest = state.error?.kind === 'rate_limited' ? Number.POSITIVE_INFINITY : backOffMs(99);
  return Math.min(notBefore, nowMs + longest);
}

/** When something of the entry is to be tried next, as ISO 8601; `undefined` when nothing is pending. */
export function nextDueAt(
  { session, handler }: Pick<OutboxEntry, DeliveryTarget>,
  nowMs: number,
): string | undefined {
  const due = [dueMs(session, nowMs), dueMs(handler, nowMs)].filter((at) => at !== undefined);
  return due.length === 0 ? undefined : instantOf(Math.min(...due));
}
