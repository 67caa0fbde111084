import type { DeliveryEvidence, FailureReason, SessionOwner } from '../spec/turn.js';
import {
  CodingAgentTurnError,
  type TurnErrorKind,
  turnErrorBrand,
} from './coding-agent-turn-error.js';
import { hasBrand } from './error-brand.js';

export { CodingAgentTurnError, type TurnErrorKind, turnErrorBrand };

/** Somebody else is writing to the session: one of ours, a foreign process, or a person's draft. */
export class SessionBusyError extends CodingAgentTurnError {
  readonly kind = 'session_busy';
  readonly owner: SessionOwner;

  constructor(owner: SessionOwner, options?: ErrorOptions) {
    super(
      `The session is busy: ${describeOwner(owner)}. Nothing was sent; try again when it is free, or wait with whenBusy: 'wait'.`,
      options,
    );
    this.owner = owner;
  }
}

function describeOwner(owner: SessionOwner): string {
  if (owner.kind === 'person') return 'a person left a draft in its composer';
  const pid = owner.pid === undefined ? '' : ` (pid ${owner.pid})`;
  return owner.kind === 'ours'
    ? `another holdfast process owns it${pid}`
    : `a foreign process${pid}`;
}

/** It is not known whether the provider took the message; it is never sent again by itself. */
export class UncertainDeliveryError extends CodingAgentTurnError {
  readonly kind = 'uncertain_delivery';
  readonly evidence: DeliveryEvidence;

  constructor(evidence: DeliveryEvidence, options?: ErrorOptions) {
    super(
      `It is not known whether the message was delivered (${evidence.what}). Nothing more was sent; inspect the session, then decide.`,
      options,
    );
    this.evidence = evidence;
  }
}

/** The turn was cut off before its end. */
export class TurnInterruptedError extends CodingAgentTurnError {
  readonly kind = 'turn_interrupted';
  /** Whether the provider's record holds the message. */
  readonly accepted: boolean;
  /** Whether later turns of the session will see the message. */
  readonly inHistory: boolean;
  /** The caller's own interrupt took effect: the same turnId gives this error again, and nothing goes on. */
  readonly isFinal: boolean;

  constructor(facts: InterruptionFacts, options?: ErrorOptions) {
    super(`The turn was interrupted: ${facts.why}. ${whatToDo(facts)}`, options);
    this.accepted = facts.accepted;
    this.inHistory = facts.inHistory;
    this.isFinal = facts.isFinal ?? false;
  }
}

interface InterruptionFacts {
  readonly accepted: boolean;
  readonly inHistory: boolean;
  readonly why: string;
  readonly isFinal?: boolean;
}

function whatToDo({ accepted, isFinal }: InterruptionFacts): string {
  const taken = `The message was ${accepted ? '' : 'not '}taken in`;
  if (isFinal) return `${taken}; the turn is over: use a new turnId.`;
  return `${taken}; call again with the same turnId ${accepted ? 'and onInterrupted: "resume" to finish' : 'to send'} it.`;
}

/** The same `turnId` was used for another message. */
export class TurnConflictError extends CodingAgentTurnError {
  readonly kind = 'turn_conflict';

  constructor(turnId: string) {
    super(`Turn ${turnId} was made for another message. Nothing was sent; use a new turnId.`);
    this.turnId = turnId;
  }
}

/** The messages given are not a continuation of what the session holds. */
export class HistoryDivergedError extends CodingAgentTurnError {
  readonly kind = 'history_diverged';
  /** Index into the given messages of the first one that differs. */
  readonly index: number;

  constructor(index: number) {
    super(
      `The given history differs from the session's at message ${index}. Nothing was sent; start a new session or give the history unchanged.`,
    );
    this.index = index;
  }
}

/** The provider or transport cannot take this message exactly. */
export class UndeliverableMessageError extends CodingAgentTurnError {
  readonly kind = 'undeliverable_message';
  readonly reason: string;

  constructor(reason: string, detail: string) {
    super(`The message cannot be delivered exactly (${reason}): ${detail} Nothing was typed.`);
    this.reason = reason;
  }
}

/** A page stands over the composer that nothing here may answer. */
export class BlockedError extends CodingAgentTurnError {
  readonly kind = 'blocked';
  /** The page's name where it is known, else `unknown`. */
  readonly dialog: string;
  /** The end of the page's text, 2,000 characters at most. */
  readonly pageText: string;

  constructor(dialog: string, pageText: string) {
    const text = pageText.trim().slice(-2_000);
    super(
      `The CLI waits on a page (${dialog}); nothing was pressed. Answer it by hand. Page: ${text}`,
    );
    this.dialog = dialog;
    this.pageText = text;
  }
}

/** The provider wants a sign-in. */
export class AuthRequiredError extends CodingAgentTurnError {
  readonly kind = 'auth_required';

  constructor(detail: string) {
    super(
      `The provider wants a sign-in: ${detail}. Sign in, then call again with the same turnId.`,
    );
  }
}

/** The provider's limit is reached. */
export class RateLimitedError extends CodingAgentTurnError {
  readonly kind = 'rate_limited';
  /** ISO 8601 instant at which the limit ends, where the provider said it. */
  readonly resetAt?: string;

  constructor(detail: string, resetAt?: string) {
    super(
      `The provider's rate limit is reached: ${detail}. Call again with the same turnId ${resetAt ? `after ${resetAt}` : 'later'}.`,
    );
    if (resetAt !== undefined) this.resetAt = resetAt;
  }
}

/** The provider refuses the session's stored history, so no turn on it can succeed. */
export class HistoryRejectedError extends CodingAgentTurnError {
  readonly kind = 'history_rejected';

  constructor(detail: string) {
    super(`The provider rejects the session's history: ${detail}. Start a new session.`);
  }
}

/** The native id is known, but the provider has no record of it any more. */
export class NativeHistoryMissingError extends CodingAgentTurnError {
  readonly kind = 'native_history_missing';
  /** `expired`: the CLI deletes sessions by itself, and this one's time was over. */
  readonly reason: 'missing' | 'expired';

  constructor(
    nativeSessionId: string,
    detail: string,
    reason: 'missing' | 'expired' = 'missing',
    options?: ErrorOptions,
  ) {
    super(
      `The provider has no history of session ${nativeSessionId}: ${detail}. Nothing was sent; start a new session.`,
      options,
    );
    this.reason = reason;
  }
}

/** The provider ended the turn as failed. */
export class ProviderFailedError extends CodingAgentTurnError {
  readonly kind = 'provider_failed';
  readonly reason: FailureReason;

  constructor(reason: FailureReason, detail: string) {
    super(
      `The provider failed the turn (${reason}): ${detail.slice(0, 500)}. Call again with the same turnId: a message that its history holds is nudged on, never sent again.`,
    );
    this.reason = reason;
  }
}

/** Why a CLI, or tmux, cannot be used. */
export type CliUnusableReason =
  | 'missing'
  | 'too_old'
  | 'exited'
  | 'working_dir_missing'
  | 'unresponsive';

/** The CLI (or tmux) cannot be used on this machine as it is. */
export class CliUnusableError extends CodingAgentTurnError {
  readonly kind = 'cli_unusable';
  /** What cannot be used: a binary's name or path, `tmux`, or a directory. */
  readonly subject: string;
  readonly reason: CliUnusableReason;

  constructor(subject: string, reason: CliUnusableReason, detail: string, options?: ErrorOptions) {
    super(`${subject} cannot be used (${reason}): ${detail}`, options);
    this.subject = subject;
    this.reason = reason;
  }
}

/** Why the state directory cannot be used. */
export type StateUnusableReason = 'read_only' | 'full' | 'newer_format' | 'damaged' | 'unreadable';

/** The state directory, or a file in it, cannot be read or written. */
export class StateUnusableError extends CodingAgentTurnError {
  readonly kind = 'state_unusable';
  readonly path: string;
  readonly reason: StateUnusableReason;

  constructor(path: string, reason: StateUnusableReason, detail: string, options?: ErrorOptions) {
    super(`The state at ${path} cannot be used (${reason}): ${detail}`, options);
    this.path = path;
    this.reason = reason;
  }
}

/** A wait reached its deadline. It says nothing about what was delivered unless a handle's journal does. */
export class TimedOutError extends CodingAgentTurnError {
  readonly kind = 'timed_out';
  readonly layer: string;
  readonly limitMs: number;
  readonly awaiting: string;

  constructor(facts: {
    readonly awaiting: string;
    readonly limitMs: number;
    readonly layer: string;
  }) {
    super(`Waited ${facts.limitMs} ms in ${facts.layer} for ${facts.awaiting}, in vain.`);
    this.layer = facts.layer;
    this.limitMs = facts.limitMs;
    this.awaiting = facts.awaiting;
  }
}

/** Every turn error; switch on `kind`. */
export type TurnError =
  | SessionBusyError
  | UncertainDeliveryError
  | TurnInterruptedError
  | TurnConflictError
  | HistoryDivergedError
  | UndeliverableMessageError
  | BlockedError
  | AuthRequiredError
  | RateLimitedError
  | HistoryRejectedError
  | NativeHistoryMissingError
  | ProviderFailedError
  | CliUnusableError
  | StateUnusableError
  | TimedOutError;

/** Recognises a turn error from any installed copy of this package. */
export function isTurnError(value: unknown): value is TurnError {
  return hasBrand(value, turnErrorBrand);
}
