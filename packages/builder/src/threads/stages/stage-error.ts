import type { JsonValue } from '../../persistence/store.js';

/** Same symbol in every installed copy of this package, so that recognition survives duplicates. */
const brand = Symbol.for('holdfast.CodingStageError');

/** Why a stage was not accepted. */
export type CodingStageErrorReason =
  /** Findings are left, and every round was used. */
  | 'rounds_exhausted'
  /** Twice in a row nothing that was found got mended. */
  | 'no_progress'
  | 'replacements_exhausted'
  /** A job was refused or failed in a way that no other try mends. */
  | 'job_failed'
  /** A job failed as often as it is tried in one go; the stage is as it was. */
  | 'job_unsettled'
  /** Somebody else cancelled a job; the stage is as it was. */
  | 'job_cancelled'
  /** What was approved is not what would be published. */
  | 'publish_blocked'
  /** The key belongs to a stage that was begun with something else. */
  | 'stage_conflict';

/** What is known of the stage. */
export interface CodingStageErrorDetails {
  readonly stageId: string;
  /** 0 for the first implementation and its review, then the number of the remediation. */
  readonly round: number;
  readonly evidence?: JsonValue | undefined;
}

const GO_ON: ReadonlySet<CodingStageErrorReason> = new Set(['job_unsettled', 'job_cancelled']);

/** A stage that needs a person. Its message says what can be done. Narrow it with {@link isCodingStageError}. */
export class CodingStageError extends Error {
  readonly kind = 'stage_failed';
  /** False where the same key goes on with the stage. */
  readonly isFinal: boolean;

  constructor(
    readonly reason: CodingStageErrorReason,
    why: string,
    readonly details: CodingStageErrorDetails,
    options?: ErrorOptions,
  ) {
    super(
      `Stage ${details.stageId} stopped in round ${details.round}: ${why} ${ADVICE[reason]}`,
      options,
    );
    this.name = 'CodingStageError';
    this.isFinal = !GO_ON.has(reason);
    Object.defineProperty(this, brand, { value: true });
  }

  /** The error as plain JSON. */
  toJSON(): {
    readonly kind: 'stage_failed';
    readonly reason: CodingStageErrorReason;
    readonly message: string;
    readonly details: CodingStageErrorDetails;
  } {
    const { kind, reason, message, details } = this;
    return { kind, reason, message, details };
  }
}

const ADVICE: Readonly<Record<CodingStageErrorReason, string>> = {
  rounds_exhausted:
    'Read the open findings; run a new stage with another prompt, or with more remediations.',
  no_progress: 'Read the open findings: the prompt or the requirements need a person.',
  replacements_exhausted:
    'Inspect the threads that were lost; run a new stage from the last patch once the runner is sound.',
  job_failed: 'Mend what the job was refused for, and run a new stage.',
  job_unsettled: 'Look at the runner, then run the stage again under the same key.',
  job_cancelled: 'Run the stage again under the same key to go on.',
  publish_blocked: 'Have the patch reviewed anew in a new stage.',
  stage_conflict: 'Use another key for another stage.',
};

/** Recognises the error of a stage from any installed copy of this package. */
export function isCodingStageError(value: unknown): value is CodingStageError {
  return typeof value === 'object' && value !== null && brand in value;
}
