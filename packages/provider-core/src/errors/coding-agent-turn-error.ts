import type { CodingProviderSessionHandle } from '../spec/provider-session-handle.js';
import { brandError, type ErrorJson, errorToJson } from './error-brand.js';

/** The brand of turn errors; the same symbol in every installed copy. */
export const turnErrorBrand = Symbol.for('holdfast.CodingAgentTurnError');

/** A turn that did not complete, and what is known of its message. Narrow it with {@link isTurnError}. */
export abstract class CodingAgentTurnError extends Error {
  abstract readonly kind: TurnErrorKind;
  /** The handle, once a native id is known. */
  handle?: CodingProviderSessionHandle;
  turnId?: string;

  protected constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    brandError(this, turnErrorBrand);
  }

  toJSON(): ErrorJson {
    return errorToJson('turn', this);
  }
}

/** Every kind of {@link CodingAgentTurnError}. */
export type TurnErrorKind =
  | 'session_busy'
  | 'uncertain_delivery'
  | 'turn_interrupted'
  | 'turn_conflict'
  | 'history_diverged'
  | 'undeliverable_message'
  | 'blocked'
  | 'auth_required'
  | 'rate_limited'
  | 'history_rejected'
  | 'native_history_missing'
  | 'provider_failed'
  | 'cli_unusable'
  | 'state_unusable'
  | 'timed_out';
