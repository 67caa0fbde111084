import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAgentRegistry } from '../agents.js';
import { createJobEngine } from '../engine/file-job-engine.js';
import type { JobEngine } from '../engine/job-engine.js';
import { EXECUTIONS_QUEUE } from '../executions/execution-context.js';
import { createFileStore } from '../persistence/file-store.js';
import { keys } from '../persistence/keys.js';
import type { Store } from '../persistence/store.js';
import { recoverExecutions } from './recover-executions.js';
import { walkOnce, walkRuns } from './walk-runs.js';
import { defineWorkflow } from './workflow-definition.js';

const golden = (name: string) =>
  readFile(new URL(`../__fixtures__/${name}.json`, import.meta.url), 'utf8');

const workflow = defineWorkflow({
  id: 'report',
  steps: [
    {
      id: 'draft',
      agent: 'writer',
      prompt: 'p',
      learning: { prompt: 'l' },
      kbReview: { prompt: 'k' },
    },
  ],
});

let dir = '';
let store: Store;
let engine: JobEngine;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  store = createFileStore({ dataDir: dir });
  engine = createJobEngine(store);
});

afterEach(async () => {
  await engine.stop();
  await store[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

const contextOf = (workflows = [workflow]) => ({
  store,
  engine,
  agents: createAgentRegistry({ writer: { provider: 'any', model: 'm' } as never }),
  workflows: new Map(workflows.map((one) => [one.id, one])),
});

/** Puts a file where the system before this one would have; nothing of ours knows of it. */
async function put(place: string, text: string): Promise<void> {
  const path = join(dir, place, 'continuation_state.json');
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

const read = (place: string) => readFile(join(dir, place, 'continuation_state.json'), 'utf8');
const jobs = async () => (await engine.list(EXECUTIONS_QUEUE)).map(({ id }) => id);

describe('walkRuns over files of schema 1', () => {
  it.each([
    ['waiting-for-lock', { kb_review: 'recovery_queued', direct_learning: 'recovery_queued' }],
    ['kb-pending', { kb_review: 'recovery_queued', direct_learning: 'skipped' }],
    // The phases that nobody wants any more are skipped; what the definition owes was never done.
    [
      'retired-phases',
      {
        kb_review: 'recovery_queued',
        direct_learning: 'pending',
        learning_agent: 'skipped',
        kb_update_agent: 'skipped',
      },
    ],
  ])(
    '%s: what is owed is queued with the agent and workflow of its step',
    async (name, statuses) => {
      await put('runs/iteration-1/main/logs/draft', await golden(`v1/states/${name}`));
      const { queued, left, visited } = await walkRuns(contextOf());
      expect({ left, visited }).toEqual({ left: [], visited: 1 });
      expect(queued).toMatchObject([{ executionId: 'iteration-1~main~draft', phase: 'kb_review' }]);
      expect(await jobs()).toEqual(['iteration-1~main~draft']);
      const written = JSON.parse(await read('runs/iteration-1/main/logs/draft'));
      expect(written).toMatchObject({
        schema_version: 2,
        agent: 'writer',
        workflow_id: 'report',
        outcome: 'open',
      });
      for (const [phase, status] of Object.entries(statuses)) {
        expect([phase, written.phases[phase]?.status]).toEqual([phase, status]);
      }
      expect(written.phases.auto_notification.status).toBe('pending');
      expect(written.phases.main_execution.status).toBe('completed');
    },
  );

  it.each(['completed', 'failed'])(
    '%s: one that owes nothing stays byte for byte',
    async (name) => {
      const text = await golden(`v1/states/${name}`);
      await put('runs/iteration-1/main/logs/draft', text);
      expect(await walkRuns(contextOf())).toEqual({
        found: [],
        queued: [],
        left: [],
        strays: [],
        visited: 1,
      });
      expect(await read('runs/iteration-1/main/logs/draft')).toBe(text);
      expect(await jobs()).toEqual([]);
    },
  );

  it('finds owed work that no record shows: nothing came after the validation', async () => {
    const at = '2026-07-22T10:00:00Z';
    const handle = {
      session_id: 's',
      provider: { provider: 'any', transport: 'structured', native_session_id: 'n' },
    };
    const phases = {
      main_execution: { status: 'completed', updated_at: at, agent_session_handle: handle },
      pre_validation: { status: 'completed', updated_at: at },
    };
    await put(
      'runs/iteration-1/main/logs/draft',
      JSON.stringify({ schema_version: 1, phases, updated_at: at }),
    );
    const { queued } = await walkRuns(contextOf());
    expect(queued).toMatchObject([{ phase: 'kb_review' }]);
    const written = JSON.parse(await read('runs/iteration-1/main/logs/draft'));
    expect(written.agent_session_handle.provider.native_session_id).toBe('n');
  });

  it.each([
    ['running-main', [workflow], 'main_work_interrupted'],
    ['waiting-for-lock', [], 'unregistered_agent'],
    [
      'waiting-for-lock',
      [
        { ...workflow, id: 'a' },
        { ...workflow, id: 'b' },
      ],
      'ambiguous_step',
    ],
    // Without a handle, learning would begin a session that knows nothing.
    ['missing-keys', [workflow], 'no_session'],
  ] as const)(
    '%s cannot be gone on with by what is registered',
    async (name, workflows, reason) => {
      const text = await golden(`v1/states/${name}`);
      await put('runs/iteration-1/main/logs/draft', text);
      const { left } = await walkRuns(contextOf([...workflows]));
      expect(left).toMatchObject([{ executionId: 'iteration-1~main~draft', reason }]);
      expect(await jobs()).toEqual([]);
      expect(await read('runs/iteration-1/main/logs/draft')).toBe(text);
    },
  );

  it('takes the workflow that is named like the workspace where two have the step', async () => {
    await put('runs/iteration-1/main/logs/draft', await golden('v1/states/waiting-for-lock'));
    const { queued } = await walkRuns(contextOf([{ ...workflow, id: 'other' }, workflow]));
    expect(queued).toHaveLength(1);
    expect(JSON.parse(await read('runs/iteration-1/main/logs/draft')).workflow_id).toBe('report');
  });
});

describe('walkRuns', () => {
  it('gives a job to what is open and has none, oldest first, and does nothing when run again', async () => {
    const state = JSON.parse(await golden('v2/states/all-phases'));
    for (const [iteration, created] of [
      ['iteration-10', '1'],
      ['iteration-9', '2'],
    ]) {
      const text = JSON.stringify({ ...state, created_at: `2026-01-01T00:00:0${created}Z` });
      await put(`runs/${iteration}/main/logs/draft`, text);
    }
    const first = await walkRuns(contextOf());
    const order = ['iteration-10~main~draft', 'iteration-9~main~draft'];
    // The golden state waits for a limit to end: it has its job all the same.
    expect([...first.queued, ...first.left].map(({ executionId }) => executionId)).toEqual(order);
    expect(await jobs()).toEqual(order);
    const second = await walkRuns(contextOf());
    expect(second).toMatchObject({ found: [], visited: 2 });
    expect((await recoverExecutions(contextOf())).found).toHaveLength(2);
  });

  it('reads of finished ones no more than their text, and finds the same where a store has none', async () => {
    const open = await golden('v2/states/all-phases');
    const finished = open.replace('"outcome":"open"', '"outcome":"completed"');
    for (const step of ['one', 'two']) await put(`runs/iteration-1/main/logs/${step}`, finished);
    await put('runs/iteration-1/main/logs/draft', open);
    const asked: string[] = [];
    const { readTexts, ...plain } = store;
    const watched: Store = {
      ...plain,
      ...(readTexts && { readTexts }),
      read: (key) => {
        asked.push(key.at(-2) ?? '');
        return store.read(key);
      },
    };
    expect(await walkRuns({ ...contextOf(), store: watched })).toMatchObject({ visited: 3 });
    expect(asked).toContain('draft');
    expect(asked).not.toContain('one');
    const again = await walkRuns({ ...contextOf(), store: plain });
    expect(again).toMatchObject({ visited: 3, found: [] });
    expect(await jobs()).toEqual(['iteration-1~main~draft']);
  });

  it('reports what stands where no execution can, and cannot be used', async () => {
    const owing = await golden('v1/states/waiting-for-lock');
    await put('runs/iteration-1/logs/draft', owing);
    await put('logs/draft', owing);
    await put('logs/finished', await golden('v1/states/completed'));
    await put('runs/iteration-1/a group/logs/draft', owing);
    await put('runs/iteration-1/main/logs/broken', '{"phases":');
    await put('elsewhere/logs/draft', owing);
    await symlink(join(dir, 'elsewhere'), join(dir, 'runs/iteration-1/linked'));
    await writeFile(join(dir, 'runs/note.txt'), 'kept');
    await writeFile(join(dir, 'runs/iteration-1/main/logs/note.txt'), 'kept');
    const { strays, queued, visited } = await walkRuns(contextOf());
    const found = strays.map(({ place, reason }) => [place, reason]);
    expect(found.toSorted()).toEqual([
      ['logs/draft/continuation_state.json', 'no_run_folder'],
      ['runs/iteration-1/a group', 'unusable_name'],
      ['runs/iteration-1/linked/logs', 'unreadable'],
      ['runs/iteration-1/logs/draft/continuation_state.json', 'no_group'],
      ['runs/iteration-1/main/logs/broken/continuation_state.json', 'damaged'],
    ]);
    expect({ queued, visited }).toEqual({ queued: [], visited: 4 });
    expect(await read('logs/draft')).toBe(owing);
  });

  it('is made once for a data directory that has no record of one', async () => {
    await put('runs/iteration-1/main/logs/draft', await golden('v1/states/completed'));
    expect(await walkOnce(contextOf())).toMatchObject({ visited: 1 });
    expect(await walkOnce(contextOf())).toBeUndefined();
    expect(await jobs()).toEqual([]);
  });

  it('ends with the reason of its signal, and is made again next time', async () => {
    await put('runs/iteration-1/main/logs/draft', await golden('v1/states/completed'));
    const signal = AbortSignal.abort(new TypeError('closing'));
    await expect(walkRuns(contextOf(), { signal })).rejects.toThrow('closing');
    expect(await walkOnce(contextOf())).toMatchObject({ visited: 1 });
  });

  it('tells apart what a living process is just driving', async () => {
    const key = { iteration: 'iteration-1', group: 'main', step: 'draft' };
    await put('runs/iteration-1/main/logs/draft', await golden('v2/states/all-phases'));
    const { lease } = await store.acquire(keys.executionLease(key));
    const { left } = await walkRuns(contextOf());
    expect(left).toMatchObject([{ reason: 'live_owner' }]);
    await lease?.release();
    expect(await jobs()).toHaveLength(1);
  });
});
