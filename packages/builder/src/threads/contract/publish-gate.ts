import type { ReviewResult, Sha256 } from '../coding-job.js';
import { CodingThreadError } from '../coding-thread-error.js';
import { digestOfText } from './canonical-json.js';
import { type FindingLedger, listUnclosed } from './finding-ledger.js';

/** What is to be published, and what speaks for it. */
export interface Publication {
  readonly patch: string;
  readonly patchDigest: Sha256;
  readonly review: ReviewResult;
  readonly ledger?: FindingLedger | undefined;
}

/** Lets a patch through that a reviewer approved, byte for byte; otherwise `publish_blocked`, which names what differs. */
export function checkPublication({ patch, patchDigest, review, ledger = [] }: Publication): void {
  const differing = [
    ...(digestOfText(patch) === patchDigest ? [] : ['patchDigest']),
    ...(review.artifactDigest === patchDigest ? [] : ['review.artifactDigest']),
    ...(review.verdict === 'approved' ? [] : ['review.verdict']),
    ...(review.findings.length === 0 ? [] : ['review.findings']),
    ...(listUnclosed(ledger).length === 0 ? [] : ['ledger']),
  ];
  if (differing.length === 0) return;
  throw new CodingThreadError(
    'publish_blocked',
    'No approved review speaks for this patch; have it reviewed.',
    { differingFields: differing },
  );
}
