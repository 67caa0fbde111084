import { describe, expect, it } from 'vitest';
import { artifact, DIGEST, review } from '../contract/__fixtures__/coding-jobs.js';
import { digestOfText } from '../contract/canonical-json.js';
import { OWNER } from './__fixtures__/stage-bench.js';
import { nextMove } from './next-move.js';
import type { StageJob, StageRecord } from './stage-record.js';

const SESSION = '019a0000-0000-7000-8000-00000000000a';
const receipt = { sessionRef: SESSION, checkpoint: SESSION, state: 'READY' } as const;
const [finding] = review().findings;
const P1 = digestOfText('1');
const P2 = digestOfText('2');
const fresh: StageRecord = {
  ...{ stageId: 'stage-A', stageDigest: DIGEST, owner: OWNER },
  seats: { implementer: { sessionRef: SESSION }, reviewer: { sessionRef: SESSION } },
  ...{ lost: [], unacknowledged: [], patches: [], reviews: [], ledger: [] },
  ...{ remediations: 0, replacements: 0, stalls: 0 },
};
const candidate = (patchDigest: typeof P1) => ({
  patchDigest,
  artifact: artifact({ patchDigest }),
});
const job: StageJob = {
  seat: 'implementer',
  mode: 'new',
  operationId: 'o',
  inputDigest: DIGEST,
  dispatch: 1,
};
const ledger = (state: 'open' | 'claimed') =>
  finding ? [{ finding, state, judgedIn: P1 } as const] : [];
const asked = [review({ artifactDigest: P1 })];
const approved = [review({ artifactDigest: P2, verdict: 'approved', findings: [] })];
const mend = { type: 'begin', seat: 'implementer', task: 'mend' };

const moves: readonly (readonly [string, Partial<StageRecord>, object])[] = [
  ['nothing was done', {}, { type: 'begin', seat: 'implementer', task: 'implement' }],
  ['a job is open', { job }, { type: 'run', job }],
  [
    'an end was taken in',
    { job, unacknowledged: ['o.1'] },
    { type: 'acknowledge', jobIds: ['o.1'] },
  ],
  [
    'there is a first candidate',
    { candidate: candidate(P1) },
    { type: 'begin', seat: 'reviewer', task: 'review' },
  ],
  [
    'changes are required',
    { candidate: candidate(P1), reviews: asked, ledger: ledger('open') },
    mend,
  ],
  [
    'a finding is unclaimed',
    { candidate: candidate(P2), reviews: asked, ledger: ledger('open') },
    mend,
  ],
  [
    'everything is claimed',
    { candidate: candidate(P2), reviews: asked, ledger: ledger('claimed') },
    { type: 'begin', seat: 'reviewer', task: 'review' },
  ],
  [
    'the budget is spent',
    { candidate: candidate(P1), reviews: asked, ledger: ledger('open'), remediations: 2 },
    { type: 'fail', failure: { reason: 'rounds_exhausted' } },
  ],
  [
    'a round that was charged was lost',
    {
      ...{ candidate: candidate(P1), reviews: asked, ledger: ledger('open') },
      ...{ remediations: 2, isPrepaid: true },
    },
    mend,
  ],
  [
    'nothing was mended twice',
    { candidate: candidate(P1), reviews: asked, ledger: ledger('open'), stalls: 2 },
    { type: 'fail', failure: { reason: 'no_progress' } },
  ],
  [
    'a reviewer approved',
    { candidate: candidate(P2), reviews: approved, reviewedBy: 'finalReviewer' },
    { type: 'accept' },
  ],
  [
    'a reviewer approved, and the final one has not looked',
    { candidate: candidate(P2), reviews: approved, reviewedBy: 'reviewer' },
    { type: 'begin', seat: 'finalReviewer', task: 'review' },
  ],
  [
    'it is accepted and a thread is open',
    {
      verdict: 'accepted',
      seats: { implementer: { sessionRef: SESSION, receipt }, reviewer: { sessionRef: SESSION } },
    },
    { type: 'begin', seat: 'implementer', task: 'close' },
  ],
  [
    'it is accepted and closing was given up',
    {
      verdict: 'accepted',
      seats: { implementer: { sessionRef: SESSION, receipt, closeError: 'it stays' } },
    },
    { type: 'done' },
  ],
  [
    'it has failed',
    { failure: { reason: 'no_progress', why: 'w' } },
    { type: 'failed', failure: { reason: 'no_progress' } },
  ],
];

describe('the move a stage owes', () => {
  it.each(moves)('follows from its record alone: %s', (_when, change, move) => {
    const limits = { maxRemediations: 2, hasFinalReviewer: true };
    expect(nextMove({ ...fresh, ...change }, limits)).toMatchObject(move);
  });
});
