import * as continuation from './continuation-error.js';
import type { ErrorJson } from './error-brand.js';
import * as turn from './turn-error.js';

/** Every error class of this package that crosses JSON, by family and kind. */
const classes: Readonly<Record<string, { readonly prototype: Error }>> = {
  'continuation/non_applicable': continuation.NonApplicableError,
  'continuation/non_continuable': continuation.NonContinuableError,
  'continuation/stale_handle': continuation.StaleHandleError,
  'turn/session_busy': turn.SessionBusyError,
  'turn/uncertain_delivery': turn.UncertainDeliveryError,
  'turn/turn_interrupted': turn.TurnInterruptedError,
  'turn/turn_conflict': turn.TurnConflictError,
  'turn/history_diverged': turn.HistoryDivergedError,
  'turn/undeliverable_message': turn.UndeliverableMessageError,
  'turn/blocked': turn.BlockedError,
  'turn/auth_required': turn.AuthRequiredError,
  'turn/rate_limited': turn.RateLimitedError,
  'turn/history_rejected': turn.HistoryRejectedError,
  'turn/native_history_missing': turn.NativeHistoryMissingError,
  'turn/provider_failed': turn.ProviderFailedError,
  'turn/cli_unusable': turn.CliUnusableError,
  'turn/state_unusable': turn.StateUnusableError,
  'turn/timed_out': turn.TimedOutError,
};

/**
 * Rebuilds an error from what its `toJSON()` gave, after JSON, `structuredClone` or IPC. The brand, the `kind`
 * and every fact are there again; the stack is not. What is not such an object gives `undefined`.
 */
export function errorFromJson(
  value: unknown,
): continuation.ContinuationError | turn.TurnError | undefined {
  if (!isErrorJson(value)) return undefined;
  const found = classes[`${value.family}/${value.kind}`];
  if (!found) return undefined;
  const error: Error = Object.create(found.prototype);
  const brand = value.family === 'turn' ? turn.turnErrorBrand : continuation.continuationErrorBrand;
  Object.assign(error, value.facts);
  Object.defineProperties(error, {
    name: { value: value.name, configurable: true, writable: true },
    message: { value: value.message, configurable: true, writable: true },
    kind: { value: value.kind, enumerable: true },
    [brand]: { value: true },
  });
  return continuation.isContinuationError(error) || turn.isTurnError(error) ? error : undefined;
}

function isErrorJson(value: unknown): value is ErrorJson {
  if (typeof value !== 'object' || value === null) return false;
  const fields: ReadonlyMap<string, unknown> = new Map(Object.entries(value));
  const isText = (key: string) => typeof fields.get(key) === 'string';
  const facts = fields.get('facts');
  return (
    isText('family') &&
    isText('kind') &&
    isText('message') &&
    typeof facts === 'object' &&
    facts !== null
  );
}
