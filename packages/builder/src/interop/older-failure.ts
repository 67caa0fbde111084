import {
  AuthRequiredError,
  type ContinuationError,
  isContinuationError,
  isTurnError,
  NonApplicableError,
  NonContinuableError,
  RateLimitedError,
  SessionBusyError,
  StaleHandleError,
  type TurnError,
  UncertainDeliveryError,
} from '@holdfast/agent';
import type { olderShapes } from './older-shapes.wire.js';

type OlderFailure = ReturnType<typeof olderShapes.failure.decode>;

/**
 * An error of the older system as the one of ours that asks its caller for the same; `undefined` for what is none here: a lost
 * terminal is gone on with, and a message that nobody could take is a delivery of its own kind.
 */
export function readOlderFailure({
  error,
  kind,
  provider = 'unknown',
  reason,
  detail,
  loginCommand,
  retryAt,
}: OlderFailure): ContinuationError | TurnError | undefined {
  if (error === 'auth_required') {
    const login = loginCommand === undefined ? '' : `; sign in with ${loginCommand}`;
    return new AuthRequiredError(`${detail ?? reason ?? provider}${login}`);
  }
  // A zero instant is how it says that nobody knows.
  if (error === 'quota_exhausted') {
    return new RateLimitedError(
      detail ?? reason ?? provider,
      isInstant(retryAt) ? retryAt : undefined,
    );
  }
  if (error === 'turn_in_flight') return new SessionBusyError({ kind: 'ours' });
  if (error === 'delivery' && kind === 'delivery_timed_out') {
    const unknown = { journal: 'unknown', record: 'unknown', process: 'unknown' } as const;
    return new UncertainDeliveryError({ what: detail ?? 'the delivery timed out', ...unknown });
  }
  if (error !== 'continuation') return undefined;
  if (kind === 'non_applicable') return new NonApplicableError(provider, reason);
  if (kind === 'stale_handle') return new StaleHandleError(provider, 'native_session_id');
  return new NonContinuableError(provider, 'native_session_id', reason);
}

/** An error of ours as the older system's clients know it; `undefined` where they know none that says the same. */
export function toOlderFailure(error: unknown): OlderFailure | undefined {
  if (isContinuationError(error)) {
    const { kind, provider, message } = error;
    return { error: 'continuation', kind, provider, reason: message };
  }
  if (!isTurnError(error)) return undefined;
  switch (error.kind) {
    case 'auth_required':
      return { error: 'auth_required', detail: error.message };
    case 'rate_limited':
      return { error: 'quota_exhausted', reason: error.message, retryAt: error.resetAt };
    case 'session_busy':
      return { error: 'turn_in_flight', reason: error.message };
    case 'uncertain_delivery':
      return { error: 'delivery', kind: 'delivery_timed_out', detail: error.message };
    default:
      return undefined;
  }
}

function isInstant(text: string | undefined): boolean {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return !Number.isNaN(ms) && ms > 0;
}
