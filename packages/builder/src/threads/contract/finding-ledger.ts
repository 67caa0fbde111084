import type { Finding, ImplementationArtifact, ReviewResult } from '../coding-job.js';

/** A finding and what became of it. `claimed`: the implementer says it is mended, and no reviewer has looked. */
export interface LedgerEntry {
  readonly finding: Finding;
  readonly state: 'open' | 'claimed' | 'closed';
  /** The artifact in which a reviewer saw it last, or saw it gone. */
  readonly judgedIn: string;
}

/** The findings of a stage, by their ids, in the order in which they came up. */
export type FindingLedger = readonly LedgerEntry[];

/** Takes in what an implementer says it has resolved. It closes nothing; an id that nobody found is a TypeError. */
export function noteClaims(
  ledger: FindingLedger,
  { resolvedFindingIds }: Pick<ImplementationArtifact, 'resolvedFindingIds'>,
): FindingLedger {
  const known = new Set(ledger.map(({ finding }) => finding.findingId));
  const foreign = resolvedFindingIds.find((id) => !known.has(id));
  if (foreign !== undefined) throw new TypeError(`${foreign} is no finding of this stage.`);
  return ledger.map((entry) =>
    entry.state === 'open' && resolvedFindingIds.includes(entry.finding.findingId)
      ? { ...entry, state: 'claimed' }
      : entry,
  );
}

/** Takes in a review: what it names is open, also again; what it names no more is closed, as only a reviewer can. */
export function noteReview(ledger: FindingLedger, review: ReviewResult): FindingLedger {
  const { artifactDigest: judgedIn, findings } = review;
  const known = ledger.map((entry): LedgerEntry => {
    const again = findings.find(({ findingId }) => findingId === entry.finding.findingId);
    if (again) return { finding: again, state: 'open', judgedIn };
    return entry.state === 'closed' ? entry : { ...entry, state: 'closed', judgedIn };
  });
  const ids = new Set(ledger.map(({ finding }) => finding.findingId));
  const fresh = findings
    .filter(({ findingId }) => !ids.has(findingId))
    .map((finding): LedgerEntry => ({ finding, state: 'open', judgedIn }));
  return [...known, ...fresh];
}

/** What no reviewer has closed. */
export function listUnclosed(ledger: FindingLedger): readonly Finding[] {
  return ledger.filter(({ state }) => state !== 'closed').map(({ finding }) => finding);
}
