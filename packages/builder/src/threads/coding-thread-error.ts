import type { JsonValue } from '../persistence/store.js';

/** Same symbol in every installed copy of this package, so that recognition survives duplicates. */
const brand = Symbol.for('holdfast.CodingThreadError');

/** Why a directive was refused, or what became of a claimed turn. */
export type CodingThreadErrorKind =
  | 'thread_busy'
  | 'thread_exists'
  | 'thread_unavailable'
  | 'thread_binding_changed'
  | 'thread_closed'
  | 'thread_abandoned'
  | 'thread_uncertain'
  | 'thread_failed'
  | 'thread_stale_checkpoint'
  | 'thread_native_missing'
  | 'thread_native_substituted'
  | 'thread_close_unproven'
  | 'remediation_mismatch'
  | 'operation_conflict'
  | 'invalid_job'
  | 'workspace_refused'
  | 'patch_refused'
  | 'candidate_changed'
  | 'publish_blocked'
  | 'runner_unfit'
  | 'execution_unknown'
  | 'deadline_exceeded'
  | 'job_cancelled';

/** What the workflow may do next: the same directive, look first, a new session, or nothing. */
export type RetryClass = 'same' | 'inspect' | 'replace' | 'never';

const RETRY: Readonly<Record<CodingThreadErrorKind, RetryClass>> = {
  thread_busy: 'same',
  thread_exists: 'inspect',
  thread_unavailable: 'replace',
  thread_binding_changed: 'replace',
  thread_closed: 'replace',
  thread_abandoned: 'replace',
  thread_uncertain: 'inspect',
  thread_failed: 'inspect',
  thread_stale_checkpoint: 'inspect',
  thread_native_missing: 'replace',
  thread_native_substituted: 'replace',
  thread_close_unproven: 'same',
  remediation_mismatch: 'never',
  operation_conflict: 'never',
  invalid_job: 'never',
  workspace_refused: 'never',
  patch_refused: 'inspect',
  candidate_changed: 'inspect',
  publish_blocked: 'inspect',
  runner_unfit: 'same',
  execution_unknown: 'inspect',
  deadline_exceeded: 'same',
  job_cancelled: 'inspect',
};

/** The retry class of a kind; `undefined` for what is no kind. */
export function retryOf(kind: string): RetryClass | undefined {
  return new Map(Object.entries(RETRY)).get(kind);
}

/** More of what is known, for the fields that a kind has. */
export interface CodingThreadErrorDetails {
  readonly sessionRef?: string | undefined;
  /** The binding's fields that differ, as paths. */
  readonly differingFields?: readonly string[] | undefined;
  readonly evidence?: JsonValue | undefined;
}

/** A coding job that was refused, or whose turn's end is not proven. Narrow it with {@link isCodingThreadError}. */
export class CodingThreadError extends Error {
  readonly retry: RetryClass;

  constructor(
    readonly kind: CodingThreadErrorKind,
    message: string,
    readonly details: CodingThreadErrorDetails = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'CodingThreadError';
    this.retry = RETRY[kind];
    Object.defineProperty(this, brand, { value: true });
  }

  /** The error as plain JSON. */
  toJSON(): {
    readonly kind: CodingThreadErrorKind;
    readonly retry: RetryClass;
    readonly message: string;
    readonly details: CodingThreadErrorDetails;
  } {
    const { kind, retry, message, details } = this;
    return { kind, retry, message, details };
  }
}

/** Recognises a coding thread error from any installed copy of this package. */
export function isCodingThreadError(value: unknown): value is CodingThreadError {
  return typeof value === 'object' && value !== null && brand in value;
}
