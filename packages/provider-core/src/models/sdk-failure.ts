import {
  AuthRequiredError,
  HistoryRejectedError,
  isTurnError,
  ProviderFailedError,
} from '../errors/turn-error.js';
import { systemClock } from '../time/clock.js';
import { type ModelFailure, toTurnError } from './model-failure.js';
import { readVendorError } from './vendor-error.wire.js';

const DETAIL_CHARACTERS = 500;

type Sdk = typeof import('ai');

/**
 * The typed error for whatever the AI SDK threw, or put into its stream. The key is left out where a server repeats it,
 * and the SDK's error is no cause: it carries the whole request.
 */
export function readSdkFailure(sdk: Sdk, error: unknown, key: string | undefined): Error {
  if (isTurnError(error)) return error;
  const hide = (text: string) => (key ? text.replaceAll(key, '(the key)') : text);
  if (sdk.LoadAPIKeyError.isInstance(error)) return new AuthRequiredError(hide(error.message));
  if (sdk.MissingToolResultsError.isInstance(error)) return new HistoryRejectedError(error.message);
  if (isBroken(sdk, error)) return new ProviderFailedError('broken_stream', hide(describe(error)));
  const failure = readFailure(sdk, error);
  if (!failure) return new ProviderFailedError('unknown', hide(describe(error)));
  const detail = hide(failure.detail).slice(0, DETAIL_CHARACTERS);
  return toTurnError({ ...failure, detail }, systemClock.now());
}

/** A connection that failed or closed under a stream, or an event in it that is none. */
function isBroken(sdk: Sdk, error: unknown): boolean {
  // Without a status no response came; with a good one its body could not be read to its end.
  if (sdk.APICallError.isInstance(error)) return (error.statusCode ?? 0) < 400;
  return (
    sdk.JSONParseError.isInstance(error) ||
    sdk.TypeValidationError.isInstance(error) ||
    sdk.InvalidResponseDataError.isInstance(error) ||
    sdk.EmptyResponseBodyError.isInstance(error) ||
    sdk.NoOutputGeneratedError.isInstance(error) ||
    // What fetch throws for a socket that closed.
    (error instanceof TypeError && error.message === 'terminated')
  );
}

function readFailure(sdk: Sdk, error: unknown): ModelFailure | undefined {
  if (sdk.APICallError.isInstance(error)) {
    const { statusCode: status, responseHeaders: headers = {}, responseBody = '' } = error;
    const told = readVendorError(responseBody);
    const said = told.message ?? (responseBody === '' ? error.message : responseBody);
    return { status, headers, error: told, detail: `${status} ${said}` };
  }
  if (error instanceof Error) return undefined;
  // An error event in the middle of a stream comes as the vendor wrote it.
  const told = readVendorError(error);
  const detail = told.message ?? 'the stream ended in an error';
  return { status: undefined, headers: {}, error: told, detail };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.message}${cause}`;
}
