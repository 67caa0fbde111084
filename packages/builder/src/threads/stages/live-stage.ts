import type { Clock, Lease } from '@holdfast/agent';
import type { Store } from '../../persistence/store.js';
import type { CodingJobs } from '../scheduling/coding-jobs.js';
import type { RunStage } from './coding-stage.js';
import type { StageLimits } from './next-move.js';
import { CodingStageError } from './stage-error.js';
import { writeStage } from './stage-files.js';
import type { StageFailure, StageRecord } from './stage-record.js';
import type { StageThreads } from './stage-threads.js';

/** What the stages of a builder are run with. */
export interface StageParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly jobs: CodingJobs;
  readonly threads: StageThreads;
}

/** A stage in the hands of whoever has its lease: the newest record, and the only way to change it. */
export class LiveStage {
  readonly limits: StageLimits & { readonly maxReplacements: number };
  readonly #lease: Lease;
  readonly #tries = new Map<string, number>();
  #record: StageRecord;

  constructor(
    readonly parts: StageParts,
    readonly request: RunStage,
    { record, lease }: { readonly record: StageRecord; readonly lease: Lease },
  ) {
    this.#record = record;
    this.#lease = lease;
    const { maxRemediations = 3, maxReplacements = 2, finalReviewer } = request.stage;
    this.limits = { maxRemediations, maxReplacements, hasFinalReviewer: !!finalReviewer };
  }

  get record(): StageRecord {
    return this.#record;
  }

  /** What every wait ends with. */
  get signal(): AbortSignal {
    const { signal, letGo } = this.request;
    return AbortSignal.any([signal, letGo].filter((one) => one !== undefined));
  }

  async write(record: StageRecord): Promise<void> {
    await writeStage(this.parts, { key: this.request.key, record, lease: this.#lease });
    this.#record = record;
  }

  /** Ends the stage without an accepted patch; the next move tells it. */
  async fail(failure: StageFailure, record: StageRecord = this.#record): Promise<void> {
    await this.write({ ...record, failure });
  }

  /** How often an operation was tried again since this process took the stage, with this time. */
  countTry(operationId: string): number {
    const count = (this.#tries.get(operationId) ?? 0) + 1;
    this.#tries.set(operationId, count);
    return count;
  }

  /** The error of the stage as it is now. */
  errorOf({ reason, why }: StageFailure, cause?: unknown): CodingStageError {
    const { stageId, remediations: round, seats, ledger, patches } = this.#record;
    const threads = Object.values(seats).map(({ sessionRef, receipt }) => ({
      sessionRef,
      checkpoint: receipt?.checkpoint,
      state: receipt?.state,
    }));
    const findings = ledger.map(({ finding, state }) => ({ id: finding.findingId, state }));
    const evidence = { threads, findings, lastPatch: patches.at(-1) };
    const options = cause === undefined ? undefined : { cause };
    return new CodingStageError(reason, why, { stageId, round, evidence }, options);
  }
}
