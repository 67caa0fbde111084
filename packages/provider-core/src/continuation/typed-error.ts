import { isContinuationError } from '../errors/continuation-error.js';
import { CliUnusableError, isTurnError, ProviderFailedError } from '../errors/turn-error.js';
import { JsonRpcLost, JsonRpcRefusal } from '../transports/json-rpc/json-rpc-error.js';
import { ProcessStartError } from '../transports/run-process.js';
import { isTmuxError } from '../transports/tmux/tmux-error.js';

/**
 * The typed error for what a layer below let through. A caller's own mistake and a defect of ours pass as they are;
 * what nobody knows better is the provider's failure, unknown.
 */
export function typedError(thrown: unknown): unknown {
  if (isTurnError(thrown) || isContinuationError(thrown) || isDefect(thrown)) return thrown;
  const detail = thrown instanceof Error ? thrown.message : String(thrown);
  const options = { cause: thrown };
  if (isTmuxError(thrown)) {
    const isKnown = thrown.code === 'missing' || thrown.code === 'too_old';
    return new CliUnusableError('tmux', isKnown ? thrown.code : 'unresponsive', detail, options);
  }
  if (thrown instanceof ProcessStartError) {
    return new CliUnusableError(thrown.file, 'missing', detail, options);
  }
  if (thrown instanceof JsonRpcLost || thrown instanceof JsonRpcRefusal) {
    return new CliUnusableError("the provider's server", 'unresponsive', detail, options);
  }
  const error = new ProviderFailedError('unknown', detail);
  error.cause = thrown;
  return error;
}

function isDefect(thrown: unknown): boolean {
  return (
    thrown instanceof TypeError ||
    (thrown instanceof Error && thrown.message.startsWith('unreachable'))
  );
}
