import { describe, expect, it } from 'vitest';
import { type Death, MemoryDisk, MemoryStore } from '../../executions/__fixtures__/memory-store.js';
import { type Script, ScriptedJobs } from './__fixtures__/scripted-jobs.js';
import {
  endsOf,
  instantClock,
  OWNER,
  readStage,
  stage,
  stageThreads,
} from './__fixtures__/stage-bench.js';
import { createCodingStages } from './create-coding-stages.js';

const whole: Script = {
  implement: [
    { patch: '1' },
    { lost: 'committed', result: { patch: '2', claims: ['f1'] } },
    { patch: '3', claims: ['f2'] },
  ],
  review: [{ findings: ['f1'] }, { lost: 'submitted' }, { findings: ['f2'] }, { findings: [] }],
};
const JOBS = [
  'implement new',
  'review new candidate 1',
  'implement resume mend f1',
  'review resume candidate 2 after f1',
  'review new candidate 2 after f1',
  'implement resume mend f2',
  'review resume candidate 3 after f2',
  'implement close',
  'review close',
];

/** One life of a process that runs the stage; it dies at a write of its own, before or after it. */
async function live(death: Death) {
  const disk = new MemoryDisk();
  const store = new MemoryStore(disk);
  const dying = new MemoryStore(disk, death);
  const jobs = new ScriptedJobs(store, whole);
  const parts = { clock: instantClock(), jobs, threads: stageThreads(store) };
  const request = { key: 'k', stage, owner: OWNER };
  const first = await createCodingStages({ ...parts, store: dying })
    .run(request)
    .catch(() => 'died' as const);
  disk.dropLeases();
  const refs = first === 'died' ? await readStage(store).catch(() => undefined) : undefined;
  const outcome = await createCodingStages({ ...parts, store }).run(request);
  return { jobs, first, refs, outcome, written: dying.writes };
}

describe('a process that dies while it runs a stage', () => {
  it('goes on exactly there, whichever write was its last: no job twice, no round charged twice', async () => {
    const { written } = await live({ at: Number.POSITIVE_INFINITY, when: 'after' });
    expect(written).toBeGreaterThan(30);
    const deaths = Array.from({ length: written }, (_one, index) => index + 1).flatMap((at) => [
      { at, when: 'before' } as const,
      { at, when: 'after' } as const,
    ]);
    for (const { at, when } of deaths) {
      const name = `write ${at}, ${when}`;
      const { jobs, first, refs, outcome } = await live({ at, when });
      expect(first, name).toBe('died');
      expect(
        jobs.seen.map(({ line }) => line),
        name,
      ).toEqual(JOBS);
      expect(outcome, name).toMatchObject({
        outcome: 'accepted',
        ...{ remediations: 2, replacements: 1 },
      });
      expect(endsOf(outcome), name).toEqual([
        'review ABANDONED',
        'implement CLOSED',
        'review CLOSED',
      ]);
      const used = jobs.seen.map(({ input }) => input.coding.thread?.sessionRef);
      if (refs) expect(used, name).toContain(refs.seats.implementer?.sessionRef);
      expect(
        [...jobs.jobs.values()].every(({ acknowledged }) => acknowledged),
        name,
      ).toBe(true);
    }
  });
});
