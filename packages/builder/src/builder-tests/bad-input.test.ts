import {
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isTurnError, waitUntil } from '@holdfast/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isChatError } from '../chat/chat-error.js';
import type { Builder } from '../create-builder.js';
import { defineWorkflow } from '../workflow/workflow-definition.js';
import { isWorkflowError } from '../workflow/workflow-error.js';
import { type BuilderMachine, createBuilderMachine } from './__fixtures__/builder-machine.js';

let machine: BuilderMachine;
beforeEach(async () => {
  machine = await createBuilderMachine();
});
afterEach(() => machine.dispose());

const one = defineWorkflow({
  id: 'one',
  steps: [{ id: 'draft', agent: 'coder', prompt: 'write', kbReview: { prompt: 'review' } }],
});

const place = (path: string) => join(machine.dataDir, path);

describe('an id that is a path', () => {
  const PATHS = [
    '../x',
    '..',
    '.',
    'a/b',
    '/etc/passwd',
    'a\\b',
    'a\0b',
    '',
    'a~b',
    'ä',
    'x'.repeat(500),
  ];

  it('is a TypeError or an unknown id wherever it is given, and names nothing outside', async () => {
    await using builder = await machine.build({ workflows: [one] });
    for (const id of PATHS) {
      for (const [name, use] of Object.entries(usesOf(builder, id))) {
        const outcome = await use().then(
          () => 'taken',
          (error: unknown) => error,
        );
        const isTyped =
          outcome instanceof TypeError || isWorkflowError(outcome) || isChatError(outcome);
        expect(isTyped, `${name} of ${JSON.stringify(id)}: ${String(outcome)}`).toBe(true);
        expect(String(outcome), name).not.toContain('unreachable');
      }
    }
    expect(machine.sessions.sent).toEqual([]);
  });
});

/** Everything that takes an id, given one. */
function usesOf(builder: Builder, id: string): Record<string, () => Promise<unknown>> {
  const { workflows, executions, chats, notifications } = builder;
  const key = { iteration: '1', group: 'main', step: 'draft' };
  const owned = { ownerKind: 'background_agent', agent: 'coder', prompt: 'x' } as const;
  const read = async (events: AsyncIterable<unknown>) => {
    for await (const _event of events) break;
  };
  return {
    iteration: async () => workflows.start({ workflow: 'one', iteration: id }),
    group: async () => workflows.start({ workflow: 'one', group: id }),
    workflow: async () => workflows.start({ workflow: id }),
    run: async () => workflows.get({ iteration: id, group: 'main' }),
    lock: async () => workflows.learningLock(id),
    withLock: async () => workflows.withLearningLock(async () => 1, { name: id }),
    stepIteration: async () => executions.start({ ...owned, key: { ...key, iteration: id } }),
    stepGroup: async () => executions.start({ ...owned, key: { ...key, group: id } }),
    step: async () => executions.start({ ...owned, key: { ...key, step: id } }),
    execution: async () => executions.get(id),
    executionPart: async () => executions.get(`${id}~main~draft`),
    wait: async () => executions.wait(id),
    stop: async () => executions.stop(id, 'x'),
    resume: async () => executions.resume(id),
    list: async () => executions.list({ iteration: id, group: 'main' }),
    events: async () => read(executions.events(id)),
    notification: async () => notifications.get(id),
    retry: async () => notifications.retry(id),
    openChat: async () => chats.open({ agent: 'coder', chatId: id }),
    getChat: async () => chats.get(id),
    send: async () => chats.send(id, 'x'),
    post: async () => chats.post(id, 'x', { policy: 'queue' }),
    closeChat: async () => chats.close(id),
    chatEvents: async () => read(builder.events(id)),
    agent: async () => chats.open({ agent: id }),
  };
}

describe('a damaged file', () => {
  const FILES = [
    'runs/1/main/run.json',
    'runs/1/main/logs/draft/continuation_state.json',
    'engine/runs/jobs/1~main.json',
    'engine/executions/jobs/1~main~draft.json',
    'chats/c/events.jsonl',
    'bridge/secret.json',
    'bridge/slots/0.json',
  ];
  const CONTENTS = {
    'no JSON': '{"half": ',
    'JSON of another shape': '[1, 2]',
    'of a newer schema': '{"schema_version": 99, "schemaVersion": 99}',
    'of 50 MB': '',
  };

  it.each(FILES.flatMap((file) => Object.keys(CONTENTS).map((what) => [file, what] as const)))(
    '%s, %s, is kept and keeps no neighbour from going on',
    async (file, what) => {
      await leaveWorkBehind();
      await mkdir(dirname(place(file)), { recursive: true });
      await writeFile(place(file), CONTENTS[what as keyof typeof CONTENTS]);
      if (what === 'of 50 MB') await truncate(place(file), 50 * 1024 * 1024);
      await using builder = await machine.build({ workflows: [one], subAgents: ['coder'] });
      const neighbour = await builder.workflows.start({ workflow: 'one', iteration: '2' });
      expect((await neighbour.wait()).outcome).toBe('completed');
      const chat = await builder.chats.open({ agent: 'coder', chatId: 'd' });
      expect((await chat.send('hi')).answer).toBe('answer to hi');
      const errors = await Promise.all([
        builder.workflows.get({ iteration: '1', group: 'main' }).catch((error: unknown) => error),
        builder.executions.get('1~main~draft').catch((error: unknown) => error),
        builder.chats.get('c').catch((error: unknown) => error),
        builder.chats.list().catch((error: unknown) => error),
        builder.notifications.list().catch((error: unknown) => error),
        builder.workflows.list().catch((error: unknown) => error),
      ]);
      expect(await isKept(file, CONTENTS[what as keyof typeof CONTENTS])).toBe(true);
      for (const error of errors.filter((one) => one instanceof Error)) {
        const isTyped = isTurnError(error) || isWorkflowError(error) || isChatError(error);
        expect(isTyped, `${error.name}: ${error.message}`).toBe(true);
      }
    },
  );
});

describe('who waits for a run of which a state is damaged', () => {
  it('is told so, and the run goes on once the file is restored', async () => {
    await leaveWorkBehind();
    const state = place('runs/1/main/logs/draft/continuation_state.json');
    const whole = await readFile(state, 'utf8');
    await writeFile(state, '{"half": ');
    await using builder = await machine.build({ workflows: [one] });
    const run = await builder.workflows.get({ iteration: '1', group: 'main' });
    await expect(run.wait()).rejects.toMatchObject({ kind: 'state_unusable' });
    await expect(builder.executions.wait('1~main~draft')).rejects.toMatchObject({
      kind: 'state_unusable',
    });
    await writeFile(state, whole);
    expect((await run.wait()).outcome).toBe('completed');
  });
});

/** Whether what was damaged still stands in its folder, under whatever name. */
async function isKept(file: string, content: string): Promise<boolean> {
  // What the secret and the addresses are for ends with them: they are made anew.
  if (file.startsWith('bridge/')) return true;
  const folder = dirname(place(file));
  for (const name of await readdir(folder, { withFileTypes: true })) {
    if (!name.isFile()) continue;
    const { size } = await stat(join(folder, name.name));
    if (content === '' ? size === 50 * 1024 * 1024 : size === content.length) return true;
  }
  return false;
}

/** A run in the middle of its step, and a chat, of a builder that is gone. */
async function leaveWorkBehind(): Promise<void> {
  let reached = () => {};
  const isReached = new Promise<void>((resolve) => (reached = resolve));
  const held = defineWorkflow({
    id: 'one',
    steps: [
      {
        id: 'draft',
        agent: 'coder',
        prompt: 'write',
        preValidate: (_answer, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason), { once: true });
            reached();
          }),
      },
    ],
  });
  await using builder = await machine.build({ workflows: [held] });
  const chat = await builder.chats.open({ agent: 'coder', chatId: 'c' });
  await chat.send('hello');
  await builder.workflows.start({ workflow: 'one', iteration: '1' });
  await isReached;
}

describe('a run folder that is a symbolic link', () => {
  it('is refused with a typed error, and nothing behind the link changes', async () => {
    await leaveWorkBehind();
    const outside = join(machine.dir, 'outside');
    await rename(place('runs/1'), outside);
    await symlink(outside, place('runs/1'));
    const state = join(outside, 'main/logs/draft/continuation_state.json');
    const before = await readFile(state, 'utf8');
    await using builder = await machine.build({ workflows: [one] });
    const neighbour = await builder.workflows.start({ workflow: 'one', iteration: '2' });
    expect((await neighbour.wait()).outcome).toBe('completed');
    await expect(builder.executions.get('1~main~draft')).rejects.toSatisfy(isTurnError);
    await expect(builder.workflows.get({ iteration: '1', group: 'main' })).rejects.toSatisfy(
      isTurnError,
    );
    await expect(builder.workflows.start({ workflow: 'one', iteration: '1' })).rejects.toSatisfy(
      isTurnError,
    );
    expect(await readFile(state, 'utf8')).toBe(before);
  });
});

describe('a definition that changed while its run was cut off', () => {
  const begun = { iteration: '1', group: 'main' };

  it('goes on with the stored message, and takes from the new one what was not begun', async () => {
    await leaveWorkBehind();
    const changed = defineWorkflow({
      id: 'one',
      steps: [
        { id: 'draft', agent: 'coder', prompt: 'another prompt', learning: { prompt: 'learn' } },
        { id: 'more', agent: 'coder', prompt: 'more' },
      ],
    });
    await using builder = await machine.build({ workflows: [changed] });
    const run = await builder.workflows.get(begun);
    expect((await run.wait()).outcome).toBe('completed');
    expect(machine.sessions.userMessages()).toEqual(['hello', 'write', 'learn', 'more']);
  });

  it.each([
    [
      'without the step',
      {
        workflows: [
          defineWorkflow({ id: 'one', steps: [{ id: 'other', agent: 'coder', prompt: 'o' }] }),
        ],
      },
      'unknown_workflow',
    ],
    ['without the workflow', { workflows: [] }, 'unknown_workflow'],
    ['without the agent', { workflows: [one], agents: {} }, 'unregistered_agent'],
  ])('%s is reported and kept until another builder knows it', async (_what, options, reason) => {
    await leaveWorkBehind();
    {
      await using builder = await machine.build(options);
      const { left } = builder.recovery.executions;
      expect(left.map(({ executionId, reason: why }) => [executionId, why])).toEqual([
        ['1~main~draft', reason],
      ]);
    }
    await using builder = await machine.build({ workflows: [one] });
    const run = await builder.workflows.get(begun);
    expect((await run.wait()).outcome).toBe('completed');
    expect(machine.sessions.userMessages()).toEqual(
      _what === 'without the step'
        ? expect.arrayContaining(['write', 'review'])
        : ['hello', 'write', 'review'],
    );
  });
});

describe('a clock that ran ten years ahead', () => {
  it('holds up no phase whose try it put off', async () => {
    await leaveWorkBehind();
    const stamp = '2036-11-29T21:00:00.000Z';
    const path = place('runs/1/main/logs/draft/continuation_state.json');
    const state = JSON.parse(await readFile(path, 'utf8'));
    state.updated_at = stamp;
    Object.assign(state.phases.pre_validation, {
      updated_at: stamp,
      not_before: '2036-11-29T21:00:01.000Z',
    });
    await writeFile(path, JSON.stringify(state));
    await using builder = await machine.build({ workflows: [one] });
    expect(builder.recovery.executions.left).toEqual([]);
    const run = await builder.workflows.get({ iteration: '1', group: 'main' });
    expect((await run.wait()).outcome).toBe('completed');
    expect(machine.sessions.userMessages()).toEqual(['hello', 'write', 'review']);
  });
});

describe('a data directory that is a file, or that nobody may write', () => {
  it('is a typed error at once, and fine again once it can be written', async () => {
    await writeFile(machine.dataDir, 'not a folder');
    await expect(machine.build({ workflows: [one] })).rejects.toSatisfy(isTurnError);
    await rm(machine.dataDir);
    await using builder = await machine.build({ workflows: [one] });
    const run = await builder.workflows.start({ workflow: 'one' });
    await run.wait();
    await waitUntil(() => machine.told.length === 2, { awaiting: 'the news', deadlineMs: 20_000 });
  });
});
