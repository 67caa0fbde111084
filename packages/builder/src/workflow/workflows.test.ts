import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@holdfast/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemorySessions } from '../__fixtures__/memory-sessions.js';
import { type Builder, createBuilder } from '../create-builder.js';
import type { Notification } from '../notifications/notification.js';
import { encodeTicket } from './learning-ticket.wire.js';
import type { RunEvent } from './run-events.js';
import { defineWorkflow, type WorkflowDefinition } from './workflow-definition.js';
import { isWorkflowError } from './workflow-error.js';

let root = '';
let sessions = new MemorySessions();
let told: Notification[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-workflows-'));
  sessions = new MemorySessions();
  told = [];
});
afterEach(() => rm(root, { recursive: true, force: true }));

const build = (...workflows: WorkflowDefinition[]): Promise<Builder> =>
  createBuilder({
    dataDir: join(root, 'data'),
    workflows,
    agents: {
      coder: { provider: 'claude-code', workingDir: root, stateDir: join(root, 'state'), sessions },
    },
    onNotification: (notification) => {
      told.push(notification);
    },
  });

const publish = defineWorkflow({
  id: 'publish',
  steps: [
    {
      id: 'draft',
      agent: 'coder',
      prompt: 'Write the draft.',
      kbReview: { prompt: 'Review the knowledge base.' },
      learning: { prompt: 'Keep what you learnt.' },
    },
    {
      parallel: [
        { id: 'check', agent: 'coder', prompt: ({ answers }) => `Check: ${answers['draft']}` },
        { id: 'count', agent: 'coder', prompt: 'Count the words.' },
      ],
    },
  ],
});

async function readAll(events: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const all: RunEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe('a workflow run', () => {
  it('runs its steps in order, those of a group side by side, and hands answers on', async () => {
    await using builder = await build(publish);
    const run = await builder.workflows.start({ workflow: 'publish', iteration: '1' });
    const view = await run.wait();
    expect(view).toMatchObject({ outcome: 'completed', runId: '1~main', workflowId: 'publish' });
    expect(view.executions.map(({ stepId }) => stepId)).toEqual(['draft', 'check', 'count']);
    expect(view.executions.map(({ outcome }) => outcome)).toEqual(Array(3).fill('completed'));
    const [first, second, third, ...rest] = sessions.userMessages();
    expect([first, second, third]).toEqual([
      'Write the draft.',
      'Review the knowledge base.',
      'Keep what you learnt.',
    ]);
    expect([...rest].sort()).toEqual(['Check: answer to Write the draft.', 'Count the words.']);
  });

  it('stands on disk where the seed has it, with a log beside each step', async () => {
    await using builder = await build(publish);
    await (await builder.workflows.start({ workflow: 'publish', iteration: '1' })).wait();
    const logs = join(root, 'data', 'runs', '1', 'main', 'logs', 'draft');
    const state = JSON.parse(await readFile(join(logs, 'continuation_state.json'), 'utf8'));
    expect(state).toMatchObject({
      schema_version: 2,
      run_folder: '1/main',
      step_id: 'draft',
      owner_kind: 'workflow_step',
      phases: {
        main_execution: { status: 'completed' },
        pre_validation: { status: 'completed' },
        kb_review: { status: 'completed' },
        direct_learning: { status: 'completed' },
        auto_notification: { status: 'completed' },
      },
    });
    expect(
      (await readFile(join(logs, 'events.jsonl'), 'utf8')).trim().split('\n').length,
    ).toBeGreaterThan(5);
  });

  it('tells of each step and then of the run, once each, and never of a failed one as completed', async () => {
    const failing = defineWorkflow({
      id: 'failing',
      steps: [
        {
          id: 'draft',
          agent: 'coder',
          prompt: 'Write.',
          maxFeedback: 1,
          preValidate: () => ({ passed: false, feedback: 'Too short.' }),
        },
        { id: 'never', agent: 'coder', prompt: 'Not reached.' },
      ],
    });
    await using builder = await build(failing);
    const view = await (
      await builder.workflows.start({ workflow: 'failing', iteration: '1' })
    ).wait();
    expect(view).toMatchObject({ outcome: 'failed', error: { kind: 'child_failed' } });
    await waitUntil(() => told.length === 2, {
      awaiting: 'both notifications',
      deadlineMs: 10_000,
    });
    expect(told.map(({ notificationId, outcome }) => [notificationId, outcome])).toEqual([
      ['1~main~draft~failed', 'failed'],
      ['1~main~run', 'failed'],
    ]);
    expect(sessions.userMessages()).toHaveLength(2);
  });

  it('is begun once for one place, and is another workflow nowhere', async () => {
    const other = defineWorkflow({ id: 'other', steps: publish.steps });
    await using builder = await build(publish, other);
    const [one, two] = await Promise.all([
      builder.workflows.start({ workflow: 'publish', iteration: '1' }),
      builder.workflows.start({ workflow: 'publish', iteration: '1' }),
    ]);
    await Promise.all([one.wait(), two.wait()]);
    expect(sessions.userMessages()).toHaveLength(5);
    await expect(builder.workflows.start({ workflow: 'other', iteration: '1' })).rejects.toThrow(
      'is one of publish, not of other',
    );
    const unknown = builder.workflows.start({ workflow: 'nothing' });
    await expect(unknown).rejects.toSatisfy(isWorkflowError);
  });

  it('is begun by whichever builder takes its job, though the one that was asked is slower', async () => {
    await using asked = await build(publish);
    await using idle = await build(publish);
    const starts = ['1', '2', '3', '4'].map((iteration) =>
      asked.workflows.start({ workflow: 'publish', iteration }),
    );
    const views = await Promise.all((await Promise.all(starts)).map((run) => run.wait()));
    expect(views.map(({ outcome }) => outcome)).toEqual(Array(4).fill('completed'));
    expect(sessions.userMessages()).toHaveLength(20);
    expect(idle.recovery.jobs.queued).toEqual([]);
  });

  it('tells its main agent of each step, as turns in that agent’s own session', async () => {
    const led = defineWorkflow({
      id: 'led',
      main: { agent: 'coder', prompt: 'You lead.' },
      steps: [{ id: 'draft', agent: 'coder', prompt: 'Write.' }],
    });
    await using builder = await build(led);
    const view = await (await builder.workflows.start({ workflow: 'led', iteration: '1' })).wait();
    expect(view.executions.map(({ ownerKind }) => ownerKind)).toEqual([
      'workflow',
      'workflow_step',
    ]);
    const [lead] = [...sessions.world.sessions.values()];
    const heard =
      lead?.messages.filter(({ role }) => role === 'user').map(({ text }) => text) ?? [];
    expect(heard).toEqual(['You lead.', expect.stringContaining('[AUTO-NOTIFICATION]')]);
  });

  it('reads the events of a run in which an execution begins whose state is not there yet', async () => {
    await using builder = await build(publish);
    const run = await builder.workflows.start({ workflow: 'publish', iteration: '1' });
    await run.wait();
    const before = await readAll(run.events());
    await mkdir(join(root, 'data', 'runs', '1', 'main', 'logs', 'agent-0123456789ab', 'lease'), {
      recursive: true,
    });
    expect(await readAll(run.events())).toEqual(before);
  });

  it('goes on from the cursor of an event, in another builder too', async () => {
    const first = await build(publish);
    const run = await first.workflows.start({ workflow: 'publish', iteration: '1' });
    await run.wait();
    const all = await readAll(run.events());
    await first.close();
    await using second = await build(publish);
    const again = await second.workflows.get({ iteration: '1', group: 'main' });
    const at = all.findIndex(({ type }) => type === 'learning_completed');
    const rest = await readAll(again.events({ cursor: all[at]?.cursor }));
    expect(rest.map(({ executionId, sequence }) => [executionId, sequence])).toEqual(
      all.slice(at + 1).map(({ executionId, sequence }) => [executionId, sequence]),
    );
    expect(all.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'pre_validation_passed',
        'kb_review_completed',
        'learning_completed',
        'auto_notification_sent',
      ]),
    );
    await expect(readAll(again.events({ cursor: 'nonsense' }))).rejects.toThrow(TypeError);
  });

  it('starts no further step once it was stopped', async () => {
    await using builder = await build(publish);
    let letGo = () => {};
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const reached = new Promise<void>((resolve) => {
      sessions.onStep = async (step) => {
        if (step !== 'accepted') return;
        resolve();
        await held;
      };
    });
    const run = await builder.workflows.start({ workflow: 'publish', iteration: '1' });
    await reached;
    await run.stop('no longer wanted');
    letGo();
    const view = await run.wait();
    expect(view).toMatchObject({ outcome: 'stopped', error: { kind: 'execution_stopped' } });
    expect(sessions.userMessages()).toEqual(['Write the draft.']);
  });
});

describe('a definition', () => {
  it.each([
    ['a step id that is a path', { id: 'w', steps: [{ id: '../x', agent: 'a', prompt: '' }] }],
    ['two steps of one id', { id: 'w', steps: [step('a'), step('a')] }],
    ['no step', { id: 'w', steps: [] }],
    ['a step with the name of the main agent', { id: 'w', steps: [step('workflow')] }],
  ])('is refused with %s', (_what, definition) => {
    expect(() => defineWorkflow(definition)).toThrow(TypeError);
  });
});

function step(id: string) {
  return { id, agent: 'coder', prompt: 'Do it.' };
}

describe('the learning lock', () => {
  it('lets a service do work of its own on the shared files, while a step waits its turn', async () => {
    await using builder = await build(publish);
    let letGo = () => {};
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const work = builder.workflows.withLearningLock(async (lock) => {
      await held;
      return lock.isCurrent();
    });
    const run = await builder.workflows.start({ workflow: 'publish', iteration: '1' });
    const waits = async () => {
      const [draft] = (await run.view()).executions;
      return draft?.phases.kb_review?.status === 'waiting_for_lock' && draft;
    };
    const state = await waitUntil(waits, { awaiting: 'the wait for the lock', deadlineMs: 10_000 });
    expect(state.handle).toBeDefined();
    // That it waits is on disk before it stands in the line.
    const line = async () => {
      const lock = await builder.workflows.learningLock();
      return lock.waiting.length > 0 && lock;
    };
    expect(
      await waitUntil(line, { awaiting: 'its place in line', deadlineMs: 10_000 }),
    ).toMatchObject({
      state: 'held',
      waiting: [{ executionId: '1~main~draft' }],
    });
    letGo();
    expect(await work).toBe(true);
    expect((await run.wait()).outcome).toBe('completed');
  });

  it('keeps no place of an execution that has ended, though a crash left one behind', async () => {
    const dataDir = join(root, 'data');
    const ticket = { executionId: '1~main~draft', number: 99, since: '2026-01-01T00:00:00.000Z' };
    const place = join(dataDir, 'locks', 'default', 'tickets', '000000000099.json');
    await using builder = await createBuilder({
      dataDir,
      workflows: [publish],
      agents: {
        coder: {
          provider: 'claude-code',
          workingDir: root,
          stateDir: join(root, 'state'),
          sessions,
        },
      },
      onNotification: ({ executionId }) =>
        executionId === '1~main~draft'
          ? writeFile(place, JSON.stringify(encodeTicket(ticket)))
          : undefined,
    });
    await (await builder.workflows.start({ workflow: 'publish', iteration: '1' })).wait();
    expect((await builder.workflows.learningLock()).waiting).toEqual([]);
  });
});
