import {
  AuthRequiredError,
  HistoryRejectedError,
  ProviderFailedError,
  RateLimitedError,
  type TurnError,
} from '../errors/turn-error.js';
import type { RecordEvent } from '../spec/record-event.js';

/** The typed error for a failure the provider recorded. */
export function failureError(
  failed: Extract<RecordEvent, { type: 'turn_failed' }> | undefined,
): TurnError {
  const detail = failed?.detail ?? 'no detail given';
  switch (failed?.reason) {
    case 'rate_limited':
      return new RateLimitedError(detail, failed.resetAt);
    case 'auth_required':
      return new AuthRequiredError(detail);
    case 'history_rejected':
      return new HistoryRejectedError(detail);
    default:
      return new ProviderFailedError(failed?.reason ?? 'unknown', detail);
  }
}
