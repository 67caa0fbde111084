import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemorySessions } from '../__fixtures__/memory-sessions.js';
import { type Builder, createBuilder } from '../create-builder.js';
import { defineWorkflow } from './workflow-definition.js';

let root = '';
let notes = '';
let sessions = new MemorySessions();

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-shared-'));
  notes = join(root, 'notes.md');
  sessions = new MemorySessions();
  await writeFile(notes, '');
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** Reads the file, lets everything else have its turn, and writes it whole: whoever comes in between loses its line. */
async function addLine(line: string): Promise<void> {
  const before = await readFile(notes, 'utf8');
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  await writeFile(notes, `${before}${line}\n`);
}

const workflow = defineWorkflow({
  id: 'notes',
  steps: [
    {
      id: 'draft',
      agent: 'coder',
      prompt: 'write',
      kbReview: {
        prompt: 'review',
        apply: (_answer, { executionId }) => addLine(`review ${executionId}`),
      },
      learning: {
        mode: 'agent',
        agent: 'coder',
        prompt: 'learn',
        apply: (_answer, { executionId }) => addLine(`learning ${executionId}`),
      },
    },
  ],
});

const build = (): Promise<Builder> =>
  createBuilder({
    dataDir: join(root, 'data'),
    workflows: [workflow],
    agents: {
      coder: { provider: 'claude-code', workingDir: root, stateDir: join(root, 'state'), sessions },
    },
  });

describe('runs that update the same files at once', () => {
  it('leave every update of every run there, whichever of two builders drives them', async () => {
    await using one = await build();
    await using two = await build();
    const iterations = ['1', '2', '3', '4', '5', '6'];
    const runs = await Promise.all(
      iterations.map((iteration, index) =>
        (index % 2 ? one : two).workflows.start({ workflow: 'notes', iteration }),
      ),
    );
    const ends = await Promise.all(runs.map((run) => run.wait()));
    expect(ends.map(({ outcome }) => outcome)).toEqual(iterations.map(() => 'completed'));
    const expected = iterations.flatMap((iteration) =>
      ['learning', 'review'].map((what) => `${what} ${iteration}~main~draft`),
    );
    expect((await readFile(notes, 'utf8')).trim().split('\n').toSorted()).toEqual(
      expected.toSorted(),
    );
  });
});
