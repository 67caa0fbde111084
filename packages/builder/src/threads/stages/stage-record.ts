import type { ImplementationArtifact, ReviewResult, Sha256, ThreadReceipt } from '../coding-job.js';
import type { FindingLedger } from '../contract/finding-ledger.js';
import type { ThreadOwner } from '../contract/thread-scope.js';
import type { StageThreadEnd } from './coding-stage.js';
import type { CodingStageErrorReason } from './stage-error.js';

/** Who works on a stage; each has a conversation of its own. */
export type StageSeat = 'implementer' | 'reviewer' | 'finalReviewer';

/** Every seat, in the order in which they begin and are closed. */
export const STAGE_SEATS: readonly StageSeat[] = ['implementer', 'reviewer', 'finalReviewer'];

/** The conversation of a seat. Its reference is on disk before anything is dispatched. */
export interface StageThread {
  readonly sessionRef: string;
  /** Of its last job; none before the first was done. */
  readonly receipt?: ThreadReceipt | undefined;
  /** The patch that the thread itself stands on. */
  readonly patchDigest?: Sha256 | undefined;
  /** The last review that this seat gave. */
  readonly review?: ReviewResult | undefined;
  /** Set once closing it was given up. */
  readonly closeError?: string | undefined;
}

/** A job that is to be done: everything of it is on disk before it is dispatched. */
export interface StageJob {
  /** The scope that its thread is in: in another one, nothing can be said of it. */
  readonly scope?: Sha256 | undefined;
  readonly seat: StageSeat;
  readonly mode: 'new' | 'resume' | 'close';
  readonly operationId: string;
  /** The whole input, as an artifact of the store. */
  readonly inputDigest: Sha256;
  /** Rises with each try of the operation, and is part of the job's id. */
  readonly dispatch: number;
}

/** What a reviewer is to judge, or has approved. */
export interface StageCandidate {
  readonly patchDigest: Sha256;
  readonly artifact: ImplementationArtifact;
}

/** Why the stage is over without an accepted patch. */
export interface StageFailure {
  readonly reason: CodingStageErrorReason;
  readonly why: string;
}

/** All that is kept of a stage. What is owed next follows from it alone. */
export interface StageRecord {
  readonly stageId: string;
  /** Of the stage and its owner: another one under the same key is refused. The stage is an artifact of the store. */
  readonly stageDigest: Sha256;
  readonly owner: ThreadOwner;
  readonly seats: Readonly<Partial<Record<StageSeat, StageThread>>>;
  /** The threads that were replaced. */
  readonly lost: readonly StageThreadEnd[];
  readonly job?: StageJob | undefined;
  /** Jobs whose end stands here, and whose own record need not be kept. */
  readonly unacknowledged: readonly string[];
  readonly candidate?: StageCandidate | undefined;
  /** Every candidate there was, as artifacts of the store. */
  readonly patches: readonly Sha256[];
  readonly reviews: readonly ReviewResult[];
  /** Who gave the last review. */
  readonly reviewedBy?: StageSeat | undefined;
  readonly ledger: FindingLedger;
  /** Each is charged before its job is dispatched. */
  readonly remediations: number;
  /** The last charge was for a job whose thread was lost: its replacement is not charged again. */
  readonly isPrepaid?: true | undefined;
  readonly replacements: number;
  /** How often in a row nothing got mended. */
  readonly stalls: number;
  readonly verdict?: 'accepted' | 'no-change' | undefined;
  readonly failure?: StageFailure | undefined;
}

/** The id under which the current try of a job is scheduled. */
export function jobIdOf({ operationId, dispatch }: StageJob): string {
  return `${operationId}.${dispatch}`;
}

/** A seat's thread. */
export function getThread({ seats }: StageRecord, seat: StageSeat): StageThread {
  const thread = seats[seat];
  if (!thread) throw new Error(`unreachable: the stage has no ${seat}`);
  return thread;
}

/** The record with a seat's thread changed. */
export function changeThread(
  record: StageRecord,
  seat: StageSeat,
  change: Partial<StageThread>,
): StageRecord {
  const thread = { ...getThread(record, seat), ...change };
  return { ...record, seats: { ...record.seats, [seat]: thread } };
}

/** The record without its open job, whose end was taken in. */
export function settleJob(record: StageRecord, job: StageJob): StageRecord {
  const unacknowledged = [...record.unacknowledged, jobIdOf(job)];
  return { ...record, job: undefined, unacknowledged };
}

/** The role that a seat works in. */
export function roleOf(seat: StageSeat): 'implement' | 'review' {
  return seat === 'implementer' ? 'implement' : 'review';
}
