import type { CodingOutcome, CodingPatch, CodingRequest } from '../coding-job.js';
import { digestOfText } from '../contract/canonical-json.js';
import { isSameSet } from '../contract/field-rules.wire.js';
import { readPatchPaths } from '../contract/read-patch-paths.js';
import type { CodingWorkerSpec } from '../worker/worker-spec.js';
import { WorkerProtocolError } from './worker-protocol-error.js';

/** Lets a patch pass that the job may give, judged here again: it is what somebody will apply. */
export function checkWorkerPatch({ job: { coding } }: CodingWorkerSpec, patch: CodingPatch): void {
  const { changed, renamedFrom } = readPatchPaths(patch.patch);
  const told = patch.changedPaths.filter((path) => !renamedFrom.includes(path));
  const named = changed.filter((path) => !renamedFrom.includes(path));
  check(roleOf(coding) === 'implement', 'a reviewer has no patch');
  check(patch.baseRevision === coding.baseRevision, 'the patch is against another base');
  check(digestOfText(patch.patch) === patch.patchDigest, 'the digest is of another patch');
  check(
    Buffer.byteLength(patch.patch) <= coding.maximumPatchBytes &&
      patch.changedPaths.length <= coding.maximumChangedFiles,
    'the patch is larger than the job allows',
  );
  check(isSameSet(told, named), 'the patch changes other paths than were told');
}

/** Lets an outcome pass that the job can have. */
export function checkWorkerOutcome(spec: CodingWorkerSpec, outcome: CodingOutcome): void {
  const { coding } = spec.job;
  check(outcome.operationId === spec.operationId, 'the outcome is of another operation');
  check(kindsOf(coding).includes(outcome.outcome), 'the outcome is of another kind of job');
  checkReceipt(coding, outcome);
  const { review, artifact, patch } = outcome;
  const isReview = outcome.outcome === 'reviewed';
  check(isReview === (review !== undefined), 'a review has a result, and nothing else has');
  check(
    review === undefined ||
      (review.reviewId === coding.reviewInput?.reviewId &&
        review.artifactDigest === coding.reviewInput.implementation.patchDigest),
    'the review is of something else',
  );
  const isImplemented = outcome.outcome === 'implemented';
  check(isImplemented === (artifact !== undefined), 'an implementation has an artifact');
  check(
    !isImplemented || artifact?.patchDigest === patch?.patchDigest,
    'the artifact has no patch',
  );
  check(outcome.outcome !== 'no-change' || (patch?.patch ?? '') === '', 'no change has a patch');
}

function kindsOf(coding: CodingRequest): readonly CodingOutcome['outcome'][] {
  if (coding.thread?.mode === 'close') return ['closed'];
  return roleOf(coding) === 'review' ? ['reviewed'] : ['implemented', 'no-change'];
}

/** READY after a turn, either where the turn was to close it too, CLOSED where nothing else was asked for. */
function checkReceipt({ thread }: CodingRequest, { thread: receipt }: CodingOutcome): void {
  check((thread === undefined) === (receipt === undefined), 'a thread has a receipt');
  if (!thread || !receipt) return;
  check(receipt.sessionRef === thread.sessionRef, 'the receipt is of another thread');
  const isClosing = thread.mode === 'close';
  const allowed = isClosing ? ['CLOSED'] : ['READY', ...(thread.closeAfterTurn ? ['CLOSED'] : [])];
  check(allowed.includes(receipt.state), 'the receipt has a state that was not asked for');
}

function roleOf({ role = 'implement' }: CodingRequest) {
  return role;
}

function check(isRight: boolean, rule: string): void {
  if (!isRight) throw new WorkerProtocolError('wrong_outcome', rule);
}
