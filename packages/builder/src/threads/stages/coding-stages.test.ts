import { describe, expect, it } from 'vitest';
import { keys } from '../../persistence/keys.js';
import { CodingThreadError } from '../coding-thread-error.js';
import { DIGEST, review } from '../contract/__fixtures__/coding-jobs.js';
import { digestOfText } from '../contract/canonical-json.js';
import { patchOf } from './__fixtures__/scripted-jobs.js';
import { bench, endsOf, OWNER } from './__fixtures__/stage-bench.js';
import { encodeStageRecord } from './stage-record.wire.js';

const mended = { patch: '2', claims: ['f1'] };
const twoRounds = {
  implement: [{ patch: '1' }, mended],
  review: [{ findings: ['f1'] }, { findings: [] }],
};
const SEQUENCE = [
  'implement new',
  'review new candidate 1',
  'implement resume mend f1',
  'review resume candidate 2 after f1',
  'implement close',
  'review close',
];

describe('a coding stage', () => {
  it('makes the jobs of the sequence, each with the last checkpoint of its own thread', async () => {
    const { run, lines, jobs } = bench(twoRounds);
    const outcome = await run();
    expect(lines()).toEqual(SEQUENCE);
    expect(outcome).toMatchObject({
      outcome: 'accepted',
      patch: { patch: patchOf('2'), changedPaths: ['src/one.txt'] },
      patchDigest: digestOfText(patchOf('2')),
      review: { verdict: 'approved', artifactDigest: digestOfText(patchOf('2')) },
      ledger: [{ state: 'closed', finding: { findingId: 'f1' } }],
      ...{ remediations: 1, replacements: 0 },
    });
    expect(endsOf(outcome)).toEqual(['implement CLOSED', 'review CLOSED']);
    const refs = jobs.seen.map(({ input }) => input.coding.thread?.sessionRef);
    expect(new Set(refs).size).toBe(2);
    expect([...jobs.jobs.values()].every(({ acknowledged }) => acknowledged)).toBe(true);
  });

  it('has every reference and the whole job on disk before it dispatches', async () => {
    const { run, jobs, record } = bench(twoRounds);
    const kept: unknown[] = [];
    jobs.onSubmit = async ({ jobId }) => {
      const { seats, job } = await record();
      kept.push([seats.implementer?.sessionRef, seats.reviewer?.sessionRef].map(isVersion7));
      kept.push(jobId === `${job?.operationId}.${job?.dispatch}`);
    };
    await run();
    expect(kept).toEqual(SEQUENCE.flatMap(() => [[true, true], true]));
  });

  it('gives the same outcome again, and dispatches nothing for it', async () => {
    const { run, jobs } = bench(twoRounds);
    const first = await run();
    expect(await run()).toEqual(first);
    expect(jobs.seen).toHaveLength(SEQUENCE.length);
  });

  it('begins the next stage with references of its own', async () => {
    const { run, jobs } = bench({ implement: [{ patch: '1' }], review: [{ findings: [] }] });
    await run();
    await run({ key: 'other', over: { stageId: 'stage-B' } });
    const refs = jobs.seen.map(({ input }) => input.coding.thread?.sessionRef);
    expect(new Set(refs).size).toBe(4);
  });

  it('refuses another stage, or another owner, under the same key', async () => {
    const { run } = bench(twoRounds);
    await run();
    const conflict = { kind: 'stage_failed', reason: 'stage_conflict' };
    await expect(run({ over: { prompt: 'Build another.' } })).rejects.toMatchObject(conflict);
    const owner = { ...OWNER, processId: '019a0000-0000-7000-8000-0000000000ff' };
    await expect(run({ owner })).rejects.toMatchObject(conflict);
  });

  it('refuses what is no stage, and keeps nothing of it', async () => {
    const { run, record, jobs } = bench(twoRounds);
    await expect(run({ over: { prompt: '' } })).rejects.toMatchObject({ kind: 'invalid_job' });
    await expect(record()).rejects.toThrow('absent');
    expect(jobs.seen).toEqual([]);
  });

  it('stops when every round was used, and says what is left and what can be done', async () => {
    const rounds = Array.from({ length: 9 }, (_one, at) => ({
      patch: `${at + 1}`,
      claims: [`f${at}`],
    }));
    const findings = rounds.map((_one, at) => ({ findings: [`f${at + 1}`] }));
    const { run, lines } = bench({ implement: rounds, review: findings });
    const failure = {
      ...{ kind: 'stage_failed', reason: 'rounds_exhausted', isFinal: true },
      details: { stageId: 'stage-A', round: 2 },
    };
    await expect(run({ over: { maxRemediations: 2 } })).rejects.toMatchObject(failure);
    expect(lines().filter((line) => line.startsWith('implement'))).toHaveLength(3);
    await expect(run({ over: { maxRemediations: 2 } })).rejects.toThrow(
      /stage-A stopped in round 2: f3 is left after 2 remediations.*run a new stage/,
    );
  });

  it('stops before the budget is spent when nothing was mended twice in a row', async () => {
    const implement = ['1', '2', '3', '4'].map((patch) => ({ patch, claims: ['f1'] }));
    const { run, lines } = bench({ implement, review: [{ findings: ['f1'] }] });
    await expect(run({ over: { maxRemediations: 50 } })).rejects.toMatchObject({
      reason: 'no_progress',
      details: { round: 2 },
    });
    expect(lines().filter((line) => line.startsWith('implement'))).toHaveLength(3);
  });

  it('counts a remediation that changes nothing as no progress', async () => {
    const { run, lines } = bench({
      implement: [{ patch: '1' }, 'no-change'],
      review: [{ findings: ['f1'] }],
    });
    await expect(run()).rejects.toMatchObject({ reason: 'no_progress', details: { round: 2 } });
    expect(lines().slice(1)).toEqual([
      'review new candidate 1',
      'implement resume mend f1',
      'implement resume',
    ]);
  });

  it('ends without a change when the first job makes none, and closes its thread', async () => {
    const { run, lines } = bench({ implement: ['no-change'], review: [] });
    const outcome = await run();
    expect(outcome).toMatchObject({ outcome: 'no-change', patch: { patch: '', changedPaths: [] } });
    expect(outcome.review).toBeUndefined();
    expect(lines()).toEqual(['implement new', 'implement close']);
    expect(endsOf(outcome)).toEqual(['implement CLOSED']);
  });

  it('sends findings that nobody claims back to the implementer, within the budget', async () => {
    const { run, lines, jobs } = bench({
      implement: [
        { patch: '1' },
        { patch: '2', claims: ['f1'] },
        { patch: '3', message: 'Done.\n{"resolvedFindingIds": ["f2", "f9"]}' },
      ],
      review: [{ findings: ['f1', 'f2'] }, { findings: [] }],
    });
    expect(await run()).toMatchObject({ outcome: 'accepted', remediations: 2 });
    expect(lines().slice(2, 5)).toEqual([
      'implement resume mend f1,f2',
      'implement resume',
      'review resume candidate 3 after f1,f2',
    ]);
    const text = jobs.seen[3]?.input.text ?? '';
    expect(text).toContain('"f2"');
    expect(text).not.toContain('"f1"');
  });

  it('has a final reviewer look without earlier assumptions, and sends what it finds back', async () => {
    const { run, lines } = bench({
      implement: [{ patch: '1' }, { patch: '2', claims: ['g1'] }],
      review: [{ findings: [] }],
      final: [{ findings: ['g1'] }, { findings: [] }],
    });
    const finalReviewer = { runnerId: 'personal', nativeModel: 'final' };
    const outcome = await run({ over: { finalReviewer } });
    expect(lines()).toEqual([
      'implement new',
      'review new candidate 1',
      'final new candidate 1',
      'implement resume mend g1',
      'review resume candidate 2 after g1',
      'final resume candidate 2 after g1',
      'implement close',
      'review close',
      'review close',
    ]);
    expect(outcome).toMatchObject({ outcome: 'accepted', remediations: 1 });
    expect(endsOf(outcome)).toHaveLength(3);
  });

  it('tells no reviewer a word of what the implementer was told', async () => {
    const { run, jobs } = bench(twoRounds);
    await run({ over: { prompt: 'The codeword is heron.' } });
    const reviews = jobs.seen.filter(({ input }) => input.coding.role === 'review');
    expect(JSON.stringify(reviews)).not.toContain('heron');
    expect(JSON.stringify(jobs.seen[2])).not.toContain('heron');
  });

  it('publishes nothing that is not what was approved', async () => {
    const { run, store, jobs, record } = bench({
      implement: [{ patch: '1' }],
      review: [{ findings: [] }],
    });
    const before = new AbortController();
    jobs.onSubmit = ({ input }) => {
      if (JSON.stringify(input).includes('reviewInput')) before.abort(new TypeError('closing'));
    };
    await expect(run({ letGo: before.signal })).rejects.toThrow('closing');
    jobs.onSubmit = () => {};
    const approved = await record();
    const [finding] = review().findings;
    if (!finding) throw new TypeError('there is a finding');
    const entry = { finding, state: 'claimed', judgedIn: DIGEST } as const;
    await store.write(keys.codingStage('k'), encodeStageRecord({ ...approved, ledger: [entry] }));
    await expect(run()).rejects.toMatchObject({ reason: 'publish_blocked', isFinal: true });
    await expect(run()).rejects.toThrow(/It differs in ledger/);
  });

  it('publishes no patch whose text was changed on disk', async () => {
    const { run, store, jobs, record } = bench({
      implement: [{ patch: '1' }],
      review: [{ findings: [] }],
    });
    jobs.onSubmit = async ({ input }) => {
      if (!JSON.stringify(input).includes('reviewInput')) return;
      const key = keys.threadArtifact(digestOfText(patchOf('1')));
      await store.write(key, { schemaVersion: 1, kind: 'patch', patch: patchOf('9') });
    };
    await expect(run()).rejects.toMatchObject({ kind: 'state_unusable' });
    expect((await record()).verdict).toBeUndefined();
  });

  it('ends with the refusal of a job that no other try mends', async () => {
    const error = new CodingThreadError('workspace_refused', 'The bundle is damaged.');
    const { run } = bench({ implement: [{ error }], review: [] });
    const failure = { reason: 'job_failed', isFinal: true };
    await expect(run()).rejects.toMatchObject(failure);
    await expect(run()).rejects.toThrow(/implementer's job was refused: workspace_refused/);
  });
});

function isVersion7(ref: string | undefined): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(ref ?? '');
}
