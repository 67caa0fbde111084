import { isTurnError, StateUnusableError, type StateUnusableReason } from '../errors/turn-error.js';

/** The system's code of a failed call (`ENOENT`, …), where there is one. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Tells whether the state, not the caller or the provider, is what failed. */
export function isStateUnusable(error: unknown): error is StateUnusableError {
  return isTurnError(error) && error.kind === 'state_unusable';
}

/** Tells whether the call failed because nothing stands at the path. */
export function isAbsentError(error: unknown): boolean {
  return errorCode(error) === 'ENOENT';
}

/** A failed write as a {@link StateUnusableError} that names the path. */
export function writeError(path: string, error: unknown): Error {
  return stateError(path, error, WRITE_REASONS[errorCode(error) ?? ''] ?? 'unreadable');
}

/** A failed read as a {@link StateUnusableError}: what cannot be read is unknown, never absent. */
export function readError(path: string, error: unknown): Error {
  return stateError(path, error, 'unreadable');
}

const WRITE_REASONS: Readonly<Record<string, StateUnusableReason>> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EFBIG: 'full',
  EROFS: 'read_only',
  EACCES: 'read_only',
  EPERM: 'read_only',
};

const WHAT_TO_DO: Partial<Record<StateUnusableReason, string>> = {
  full: ' Free some space there and try again.',
  read_only: ' Make it writable and try again.',
};

function stateError(path: string, error: unknown, reason: StateUnusableReason): Error {
  // Only what the system said is wrapped: a defect of ours passes as it is.
  if (!(error instanceof Error) || errorCode(error) === undefined) return asError(error);
  const detail = `${error.message}.${WHAT_TO_DO[reason] ?? ''}`;
  return new StateUnusableError(path, reason, detail, { cause: error });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('unreachable: not an error', { cause: error });
}
