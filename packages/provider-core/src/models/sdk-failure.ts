import {
  AuthRequiredError,
  HistoryRejectedError,
  isTurnError,
  ProviderFailedError,
} from '../errors/turn-error.js';
import { systemClock } from '../time/clock.js';
import { toTurnError } from './model-failure.js';
import { readVendorError } from './vendor-error.wire.js';

type Sdk = typeof import('ai');

/** The typed error for whatever the AI SDK threw, or put into its stream. */
export function readSdkFailure(sdk: Sdk, error: unknown): Error {
  if (isTurnError(error)) return error;
  if (sdk.LoadAPIKeyError.isInstance(error)) return new AuthRequiredError(error.message);
  if (sdk.MissingToolResultsError.isInstance(error)) return new HistoryRejectedError(error.message);
  if (sdk.APICallError.isInstance(error)) return readCallFailure(error);
  if (isBrokenStream(sdk, error)) return new ProviderFailedError('broken_stream', describe(error));
  if (error instanceof Error) return new ProviderFailedError('unknown', describe(error));
  // An error event in the middle of a stream comes as the vendor wrote it.
  return toFailure(undefined, {}, error);
}

type CallError = InstanceType<Sdk['APICallError']>;

function readCallFailure(error: CallError): Error {
  // Without a status the connection failed, or a body could not be read to its end.
  if (error.statusCode === undefined || error.statusCode < 400) {
    return new ProviderFailedError('broken_stream', describe(error));
  }
  return toFailure(
    error.statusCode,
    error.responseHeaders ?? {},
    error.responseBody,
    error.message,
  );
}

function toFailure(
  status: number | undefined,
  headers: Readonly<Record<string, string>>,
  body: unknown,
  fallback = 'the stream ended in an error',
): Error {
  const error = readVendorError(body);
  const said = error.message ?? (typeof body === 'string' && body !== '' ? body : fallback);
  const detail = status === undefined ? said : `${status} ${said}`;
  return toTurnError({ status, headers, error, detail }, systemClock.now());
}

/** A connection that closed under a stream, or an event in it that is none. */
function isBrokenStream(sdk: Sdk, error: unknown): boolean {
  return (
    sdk.JSONParseError.isInstance(error) ||
    sdk.TypeValidationError.isInstance(error) ||
    sdk.InvalidResponseDataError.isInstance(error) ||
    sdk.EmptyResponseBodyError.isInstance(error) ||
    sdk.NoOutputGeneratedError.isInstance(error) ||
    // What fetch throws for a socket that closed.
    error instanceof TypeError
  );
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.message}${cause}`;
}
