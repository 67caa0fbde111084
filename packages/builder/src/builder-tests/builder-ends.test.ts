import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type BuilderProcesses,
  bundleBuilder,
  endOf,
  killHard,
} from './__fixtures__/builder-process.js';

let processes: BuilderProcesses;
let dir = '';

beforeAll(async () => {
  processes = await bundleBuilder();
}, 120_000);
afterAll(() => processes[Symbol.asyncDispose]());
beforeEach(async () => {
  dir = await mkdtemp(join(processes.folder, 'case-'));
});

/** What the script said; one that does not end by itself is killed at the deadline, and its end is then a signal. */
async function run(script: string) {
  const child = await processes.start(script, dir);
  const deadline = AbortSignal.timeout(30_000);
  deadline.addEventListener('abort', () => void killHard(child));
  return await endOf(child);
}

const WORKFLOW = `
const one = defineWorkflow({ id: 'one', steps: [{ id: 'draft', agent: 'coder', prompt: 'write',
  kbReview: { prompt: 'review' } }] });
`;

describe('a script with a builder', () => {
  it.each([
    ['', ''],
    ['that serves sub-agents', "subAgents: ['coder']"],
  ])('%s ends by itself once it closed the builder', async (_what, more) => {
    const ended = await run(`${WORKFLOW}
      const builder = await createBuilder(makeOptions({ workflows: [one], ${more} }));
      const run = await builder.workflows.start({ workflow: 'one' });
      say((await run.wait()).outcome);
      await builder.close();
    `);
    expect(ended).toEqual({ said: 'completed\n', end: 0 });
  });

  it('ends by itself where making the builder failed, though its bridge served already', async () => {
    const ended = await run(`${WORKFLOW}
      const { mkdirSync, writeFileSync } = await import('node:fs');
      mkdirSync(dir + '/data/engine/executions', { recursive: true });
      // A folder where a record belongs: the walk cannot note that it was made.
      mkdirSync(dir + '/data/engine/executions/walked.json/x', { recursive: true });
      await createBuilder(makeOptions({ workflows: [one], subAgents: ['coder'] })).catch((error) => say(error.kind));
    `);
    expect(ended).toEqual({ said: 'state_unusable\n', end: 0 });
  });

  it('ends by itself while it waited for a run that another builder goes on with', async () => {
    const ended = await run(`${WORKFLOW}
      let reached;
      const isReached = new Promise((resolve) => { reached = resolve; });
      const held = defineWorkflow({ ...one, steps: [{ id: 'draft', agent: 'coder', prompt: 'write',
        preValidate: (answer, { signal }) => new Promise((resolve, reject) => {
          reached();
          signal.addEventListener('abort', () => reject(signal.reason));
        }) }] });
      const builder = await createBuilder(makeOptions({ workflows: [held] }));
      const run = await builder.workflows.start({ workflow: 'one', iteration: '1' });
      await isReached;
      const ends = [run.wait(), builder.executions.wait('1~main~draft')].map((wait) =>
        wait.then(() => 'ended', (error) => error.name));
      await builder.close();
      say((await Promise.all(ends)).join(' '));
      const next = await createBuilder(makeOptions({ workflows: [one] }));
      say((await (await next.workflows.get({ iteration: '1', group: 'main' })).wait()).outcome);
      await next.close();
    `);
    expect(ended).toEqual({ said: 'TypeError TypeError\ncompleted\n', end: 0 });
  });
});
