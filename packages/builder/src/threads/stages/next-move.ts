import type { Finding } from '../coding-job.js';
import {
  STAGE_SEATS,
  type StageFailure,
  type StageJob,
  type StageRecord,
  type StageSeat,
} from './stage-record.js';

/** What a stage owes next. */
export type StageMove =
  /** Says that the end of these jobs need not be kept. */
  | { readonly type: 'acknowledge'; readonly jobIds: readonly string[] }
  /** A job that is on disk is to be run to its end. */
  | { readonly type: 'run'; readonly job: StageJob }
  /** A job is to be made and written. */
  | {
      readonly type: 'begin';
      readonly seat: StageSeat;
      readonly task: 'implement' | 'mend' | 'review' | 'close';
    }
  /** The approved patch is to pass the publish gate. */
  | { readonly type: 'accept' }
  /** The stage is over and this is to be written. */
  | { readonly type: 'fail'; readonly failure: StageFailure }
  | { readonly type: 'failed'; readonly failure: StageFailure }
  | { readonly type: 'done' };

/** What bounds a stage. */
export interface StageLimits {
  readonly maxRemediations: number;
  readonly hasFinalReviewer: boolean;
}

/** How often in a row nothing may get mended. */
const MAX_STALLS = 2;

/** The move that is owed, from what is on disk alone. Pure. */
export function nextMove(record: StageRecord, limits: StageLimits): StageMove {
  const { unacknowledged, job, failure, verdict } = record;
  if (unacknowledged.length > 0) return { type: 'acknowledge', jobIds: unacknowledged };
  if (failure) return { type: 'failed', failure };
  if (job) return { type: 'run', job };
  return verdict ? nextClose(record) : nextWork(record, limits);
}

/** The findings of the last review that the implementer has not claimed, in its order. */
export function listUnclaimed({ reviews, ledger }: StageRecord): readonly Finding[] {
  const open = ledger.filter(({ state }) => state === 'open');
  const ids = new Set(open.map(({ finding }) => finding.findingId));
  return (reviews.at(-1)?.findings ?? []).filter(({ findingId }) => ids.has(findingId));
}

function nextWork(record: StageRecord, limits: StageLimits): StageMove {
  const { candidate, reviews, reviewedBy } = record;
  if (!candidate) return { type: 'begin', seat: 'implementer', task: 'implement' };
  const review = reviews.at(-1);
  if (review?.artifactDigest !== candidate.patchDigest) {
    const isUnclaimed = listUnclaimed(record).length > 0;
    return isUnclaimed
      ? nextMend(record, limits)
      : { type: 'begin', seat: 'reviewer', task: 'review' };
  }
  if (review.verdict === 'changes-required') return nextMend(record, limits);
  if (limits.hasFinalReviewer && reviewedBy !== 'finalReviewer') {
    return { type: 'begin', seat: 'finalReviewer', task: 'review' };
  }
  return { type: 'accept' };
}

/** The implementer's next round, while there is one. A round that was charged and lost is owed in any case. */
function nextMend(record: StageRecord, { maxRemediations }: StageLimits): StageMove {
  const { stalls, remediations, isPrepaid, reviews } = record;
  const ids = (reviews.at(-1)?.findings ?? []).map(({ findingId }) => findingId).join(', ');
  if (!isPrepaid && stalls >= MAX_STALLS) {
    const why = `nothing of ${ids} was mended twice in a row.`;
    return { type: 'fail', failure: { reason: 'no_progress', why } };
  }
  if (!isPrepaid && remediations >= maxRemediations) {
    const why = `${ids} is left after ${remediations} remediations.`;
    return { type: 'fail', failure: { reason: 'rounds_exhausted', why } };
  }
  return { type: 'begin', seat: 'implementer', task: 'mend' };
}

function nextClose({ seats }: StageRecord): StageMove {
  const seat = STAGE_SEATS.find((one) => {
    const thread = seats[one];
    return thread?.receipt?.state === 'READY' && thread.closeError === undefined;
  });
  return seat ? { type: 'begin', seat, task: 'close' } : { type: 'done' };
}
