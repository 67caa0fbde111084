import { describe, expect, it } from 'vitest';
import { jobOfTurn } from '../contract/coding-turn-spec.wire.js';
import { createCodingBench } from '../scheduling/__fixtures__/coding-bench.js';
import type { CodingJobs } from '../scheduling/coding-jobs.js';
import { createThreadStore } from '../store/thread-store.js';
import { describeJob, type Script, ScriptedWorker } from './__fixtures__/scripted-jobs.js';
import { endsOf, OWNER, stage } from './__fixtures__/stage-bench.js';
import { createCodingStages } from './create-coding-stages.js';
import type { StageThreadPlace, StageThreads } from './stage-threads.js';

const script: Script = {
  implement: [{ patch: '1' }, { patch: '2', claims: ['f1'] }],
  review: [{ findings: ['f1'] }, { lost: 'submitted' }, { findings: [] }],
};

type Bench = Awaited<ReturnType<typeof createCodingBench>>;

/** The stages of a builder whose workers are scripted, on real files, queues and threads. */
async function startStages(bench: Bench, worker: ScriptedWorker) {
  const { store, workers } = bench;
  const lines: string[] = [];
  workers.behave = async ({ spec }) => {
    const job = jobOfTurn(spec.turn);
    lines.push(describeJob(job));
    return await worker.run(job, spec.trusted);
  };
  const { jobs, close } = await bench.start();
  const threads = decisionsOf(bench, jobs.scopeOf);
  const stages = createCodingStages({ store, jobs, threads });
  const run = (letGo?: AbortSignal) => stages.run({ key: 'k', stage, owner: OWNER, letGo });
  return { run, lines, close, jobs: jobs as CodingJobs };
}

function decisionsOf(
  { store }: Bench,
  scopeOf: Awaited<ReturnType<Bench['start']>>['jobs']['scopeOf'],
): StageThreads {
  const threads = createThreadStore(store);
  const place = ({ owner, sessionRef }: StageThreadPlace) => ({
    scope: scopeOf(owner),
    sessionRef,
  });
  const prove = async () => ({ turn: 'unknown', evidence: null }) as const;
  return {
    scopeOf,
    inspect: (one) => threads.inspect(place(one)),
    adopt: ({ reason, operationId, ...one }) =>
      threads.adopt({ ...place(one), reason, operationId }),
    abandon: ({ reason, ...one }) => threads.abandon({ ...place(one), reason }),
    rollback: ({ reason, ...one }) => threads.rollback({ ...place(one), reason, prove }),
  };
}

describe('a coding stage on the scheduler', () => {
  it('goes through its jobs, replaces a lost reviewer, and leaves no job unacknowledged', async () => {
    const bench = await createCodingBench();
    const { run, lines, jobs } = await startStages(bench, new ScriptedWorker(bench.store, script));
    const outcome = await run();
    expect(outcome).toMatchObject({ outcome: 'accepted', remediations: 1, replacements: 1 });
    expect(lines).toEqual([
      'implement new',
      'review new candidate 1',
      'implement resume mend f1',
      'review resume candidate 2 after f1',
      'review new candidate 2 after f1',
      'implement close',
      'review close',
    ]);
    expect(endsOf(outcome)).toEqual(['review ABANDONED', 'implement CLOSED', 'review CLOSED']);
    const views = await jobs.list();
    expect(views).toHaveLength(lines.length);
    expect(views.every(({ acknowledged }) => acknowledged)).toBe(true);
  });

  it('goes on in another builder after the one that ran it was closed', async () => {
    const bench = await createCodingBench();
    const worker = new ScriptedWorker(bench.store, script);
    const first = await startStages(bench, worker);
    const closing = new AbortController();
    const behave = bench.workers.behave;
    bench.workers.behave = async (run) => {
      if (first.lines.length === 2) closing.abort(new TypeError('closing'));
      return await behave(run);
    };
    await expect(first.run(closing.signal)).rejects.toThrow('closing');
    await first.close();
    const second = await startStages(bench, worker);
    expect(await second.run()).toMatchObject({ outcome: 'accepted', remediations: 1 });
    const all = [...first.lines, ...second.lines];
    expect(all.filter((line) => line === 'implement resume mend f1')).toHaveLength(1);
    expect(all).toHaveLength(7);
  });
});
