import type { CodingOutcome, CodingPatch } from '../coding-job.js';
import { digestOfText } from '../contract/canonical-json.js';
import type { CodingTurnSpec } from '../contract/coding-turn-spec.wire.js';
import { isSameSet } from '../contract/field-rules.wire.js';
import { readPatchPaths } from '../contract/read-patch-paths.js';
import type { CodingWorkerSpec } from '../worker/worker-spec.js';
import { WorkerProtocolError } from './worker-protocol-error.js';

/** Lets a patch pass that the job may give, judged here again: it is what somebody will apply. */
export function checkWorkerPatch({ turn }: CodingWorkerSpec, patch: CodingPatch): void {
  const { changed, renamedFrom } = readPatchPaths(patch.patch);
  const told = patch.changedPaths.filter((path) => !renamedFrom.includes(path));
  const named = changed.filter((path) => !renamedFrom.includes(path));
  check(turn.role === 'implement', 'a reviewer has no patch');
  check(patch.baseRevision === turn.baseRevision, 'the patch is against another base');
  check(digestOfText(patch.patch) === patch.patchDigest, 'the digest is of another patch');
  check(
    Buffer.byteLength(patch.patch) <= turn.maximumPatchBytes &&
      patch.changedPaths.length <= turn.maximumChangedFiles,
    'the patch is larger than the job allows',
  );
  check(isSameSet(told, named), 'the patch changes other paths than were told');
}

/** Lets an outcome pass that the job can have. */
export function checkWorkerOutcome(spec: CodingWorkerSpec, outcome: CodingOutcome): void {
  const { turn } = spec;
  check(outcome.operationId === spec.operationId, 'the outcome is of another operation');
  check(kindsOf(turn).includes(outcome.outcome), 'the outcome is of another kind of job');
  checkReceipt(turn, outcome);
  const { review, artifact, patch } = outcome;
  const isReview = outcome.outcome === 'reviewed';
  check(isReview === (review !== undefined), 'a review has a result, and nothing else has');
  check(
    review === undefined ||
      (review.reviewId === turn.reviewInput?.reviewId &&
        review.artifactDigest === turn.reviewInput.implementation.patchDigest),
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

function kindsOf({ thread, role }: CodingTurnSpec): readonly CodingOutcome['outcome'][] {
  if (thread?.mode === 'close') return ['closed'];
  return role === 'review' ? ['reviewed'] : ['implemented', 'no-change'];
}

/** READY after a turn, either where the turn was to close it too, CLOSED where nothing else was asked for. */
function checkReceipt({ thread }: CodingTurnSpec, { thread: receipt }: CodingOutcome): void {
  check((thread === undefined) === (receipt === undefined), 'a thread has a receipt');
  if (!thread || !receipt) return;
  check(receipt.sessionRef === thread.sessionRef, 'the receipt is of another thread');
  const isClosing = thread.mode === 'close';
  const allowed = isClosing ? ['CLOSED'] : ['READY', ...(thread.closeAfterTurn ? ['CLOSED'] : [])];
  check(allowed.includes(receipt.state), 'the receipt has a state that was not asked for');
}

function check(isRight: boolean, rule: string): void {
  if (!isRight) throw new WorkerProtocolError('wrong_outcome', rule);
}
