import type { CodingOutcome, ReviewResult } from '../coding-job.js';
import { noteClaims, noteReview } from '../contract/finding-ledger.js';
import { readClaims } from '../worker/read-claims.wire.js';
import { listUnclaimed } from './next-move.js';
import {
  changeThread,
  getThread,
  type StageJob,
  type StageRecord,
  settleJob,
} from './stage-record.js';

/** Takes the outcome of the open job into the record. What is no outcome of that job is a text that says why. Pure. */
export function takeOutcome(
  record: StageRecord,
  job: StageJob,
  outcome: CodingOutcome,
): StageRecord | string {
  const { seat, mode, operationId } = job;
  const { sessionRef } = getThread(record, seat);
  if (outcome.operationId !== operationId) return 'its outcome is that of another operation';
  if (outcome.thread?.sessionRef.toLowerCase() !== sessionRef.toLowerCase()) {
    return 'its outcome has no receipt of its thread';
  }
  const settled = settleJob(changeThread(record, seat, { receipt: outcome.thread }), job);
  if (mode === 'close') return takeClose(settled, job, outcome);
  return seat === 'implementer' ? takePatch(settled, outcome) : takeReview(settled, job, outcome);
}

function takeClose(
  record: StageRecord,
  { seat }: StageJob,
  { thread }: CodingOutcome,
): StageRecord | string {
  if (thread?.state === 'CLOSED') return record;
  const closeError = thread?.closeError ?? 'the close was answered, and the thread is still open';
  return changeThread(record, seat, { closeError });
}

function takePatch(record: StageRecord, outcome: CodingOutcome): StageRecord | string {
  const { patch, artifact } = outcome;
  const known = getThread(record, 'implementer').patchDigest;
  const patchDigest = patch?.patchDigest ?? known;
  const moved = changeThread(record, 'implementer', { patchDigest });
  if (outcome.outcome === 'no-change') return takeNoChange(moved);
  if (outcome.outcome !== 'implemented' || !patch || !artifact)
    return 'its outcome has no patch with its artifact';
  if (artifact.patchDigest !== patch.patchDigest) return 'its artifact is that of another patch';
  const resolvedFindingIds = listClaims(record, outcome);
  const ledger = noteClaims(moved.ledger, { resolvedFindingIds });
  const next: StageRecord = {
    ...moved,
    ledger,
    candidate: { patchDigest: patch.patchDigest, artifact },
    patches: [...new Set([...record.patches, patch.patchDigest])],
  };
  return hasMoved(record, next) ? next : { ...next, stalls: record.stalls + 1 };
}

/** What an implementer says it has resolved. One that was told the findings as text has its claims in no artifact. */
function listClaims(record: StageRecord, { artifact, finalMessage = '' }: CodingOutcome) {
  const priorReview = record.reviews.at(-1);
  const said = readClaims(finalMessage, priorReview && { priorReview });
  const claimed = new Set([...(artifact?.resolvedFindingIds ?? []), ...said]);
  const open = listUnclaimed(record).map(({ findingId }) => findingId);
  return open.filter((id) => claimed.has(id));
}

/** A first job that changed nothing ends the stage; a remediation that did has mended nothing. */
function takeNoChange(record: StageRecord): StageRecord {
  if (!record.candidate) return { ...record, verdict: 'no-change' };
  return { ...record, stalls: record.stalls + 1 };
}

/** Whether a round brought something that a reviewer can look at anew. */
function hasMoved(before: StageRecord, after: StageRecord): boolean {
  const digest = after.candidate?.patchDigest;
  if (digest === after.reviews.at(-1)?.artifactDigest) return false;
  const isAnother = digest !== before.candidate?.patchDigest;
  return isAnother || listUnclaimed(after).length < listUnclaimed(before).length;
}

function takeReview(
  record: StageRecord,
  { seat }: StageJob,
  { outcome, review }: CodingOutcome,
): StageRecord | string {
  if (outcome !== 'reviewed' || !review) return 'its outcome has no review';
  if (review.artifactDigest !== record.candidate?.patchDigest) return 'it reviewed another patch';
  const prior = record.reviews.at(-1);
  return {
    ...changeThread(record, seat, { review }),
    reviews: [...record.reviews, review],
    reviewedBy: seat,
    ledger: noteReview(record.ledger, review),
    stalls: isStalled(prior, review) ? record.stalls + 1 : 0,
  };
}

/** Whether everything that was found last is found again. */
function isStalled(prior: ReviewResult | undefined, review: ReviewResult): boolean {
  const again = new Set(review.findings.map(({ findingId }) => findingId));
  const owed = prior?.findings ?? [];
  return owed.length > 0 && owed.every(({ findingId }) => again.has(findingId));
}
