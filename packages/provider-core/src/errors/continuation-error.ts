import type { StableField } from '../spec/capabilities.js';
import type { CodingProviderSessionHandle } from '../spec/provider-session-handle.js';
import { brandError, type ErrorJson, errorToJson, hasBrand } from './error-brand.js';

/** Same symbol in every installed copy of this package, so recognition survives duplicates. */
export const continuationErrorBrand = Symbol.for('holdfast.CodingAgentContinuationError');

/** What a session lacks to be continued. */
export type MissingPart =
  | 'native_session_id'
  | 'launch_record'
  | 'acknowledged_turn'
  | 'history'
  | 'provider'
  | 'transport'
  | 'working_dir';

/** A continuation that cannot happen, and why. Narrow it with {@link isContinuationError}. */
export abstract class CodingAgentContinuationError extends Error {
  abstract readonly kind: 'non_applicable' | 'non_continuable' | 'stale_handle';
  readonly provider: string;
  /** The handle as it was given, once a native id is known. */
  handle?: CodingProviderSessionHandle;

  protected constructor(provider: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.provider = provider;
    brandError(this, continuationErrorBrand);
  }

  toJSON(): ErrorJson {
    return errorToJson('continuation', this);
  }
}

/** The provider has no native session to continue (an API provider, for one). */
export class NonApplicableError extends CodingAgentContinuationError {
  readonly kind = 'non_applicable';

  constructor(provider: string, why = 'keeps no native session; continue from message history') {
    super(provider, `${provider} ${why}.`);
  }
}

/** The session existed, but nothing that could bring it back is left. */
export class NonContinuableError extends CodingAgentContinuationError {
  readonly kind = 'non_continuable';
  readonly missing: MissingPart;

  constructor(provider: string, missing: MissingPart, detail?: string, options?: ErrorOptions) {
    super(
      provider,
      `${provider} session cannot be continued: ${missing} is missing${detail ? ` (${detail})` : ''}. Nothing was sent; start a new session or give what is missing.`,
      options,
    );
    this.missing = missing;
  }
}

/** Something that must stay the same across turns changed. */
export class StaleHandleError extends CodingAgentContinuationError {
  readonly kind = 'stale_handle';
  readonly changedField: StableField;
  readonly oldDigest?: string;
  readonly newDigest?: string;

  constructor(
    provider: string,
    changedField: StableField,
    digests: { readonly old?: string | undefined; readonly new?: string | undefined } = {},
  ) {
    super(
      provider,
      `${provider} session was started with another ${changedField}. Nothing was sent; restore the old ${changedField} or start a new session.`,
    );
    this.changedField = changedField;
    if (digests.old !== undefined) this.oldDigest = digests.old;
    if (digests.new !== undefined) this.newDigest = digests.new;
  }
}

/** Every continuation error; switch on `kind`. */
export type ContinuationError = NonApplicableError | NonContinuableError | StaleHandleError;

/** Recognises a continuation error from any installed copy of this package. */
export function isContinuationError(value: unknown): value is ContinuationError {
  return hasBrand(value, continuationErrorBrand);
}
