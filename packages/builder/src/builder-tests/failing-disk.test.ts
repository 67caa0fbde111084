import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isTurnError } from '@holdfast/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Builder } from '../create-builder.js';
import { defineWorkflow } from '../workflow/workflow-definition.js';
import { type BuilderMachine, createBuilderMachine } from './__fixtures__/builder-machine.js';
import { type FailingDisk, plantFailingDisk } from './__fixtures__/failing-disk.js';

let machine: BuilderMachine;
let disk: FailingDisk;
beforeEach(async () => {
  machine = await createBuilderMachine();
  disk = plantFailingDisk(machine.dataDir);
});
afterEach(async () => {
  disk[Symbol.dispose]();
  await machine.dispose();
});

const DISKS = [
  ['ENOSPC', 'full', 'Free some space'],
  ['EROFS', 'read_only', 'writable'],
] as const;

/** Everything a builder writes for, each on a disk that takes nothing. */
function usesOf(builder: Builder): Record<string, () => Promise<unknown>> {
  const { chats, workflows, executions } = builder;
  const key = { iteration: '9', group: 'main', step: 'aside' };
  const aside = { key, ownerKind: 'background_agent', agent: 'coder', prompt: 'x' } as const;
  return {
    open: async () => await chats.open({ agent: 'coder', chatId: 'new' }),
    send: async () => await chats.send('c', 'lost'),
    queue: async () => await chats.post('c', 'lost', { policy: 'queue' }),
    startRun: async () => await workflows.start({ workflow: 'one', iteration: '9' }),
    startExecution: async () => await executions.start(aside),
    stopRun: async () =>
      await (await workflows.get({ iteration: '1', group: 'main' })).stop('enough'),
    lock: async () => await workflows.withLearningLock(async () => 1, { name: 'other' }),
    repair: async () => await builder.repair(),
  };
}

/** A run whose validation waits for the test, beside a chat. */
function holdRun() {
  let open = () => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  let reach = () => {};
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const workflow = defineWorkflow({
    id: 'one',
    steps: [
      {
        id: 'draft',
        agent: 'coder',
        prompt: 'write',
        preValidate: async () => {
          reach();
          await gate;
          return { passed: true };
        },
        learning: { prompt: 'learn' },
      },
    ],
  });
  return { workflow, open, reached };
}

/** Every JSON file of the data directory can be read: none was written by half. */
async function checkWhole(): Promise<void> {
  const files = await readdir(machine.dataDir, { recursive: true, withFileTypes: true });
  for (const file of files.filter((one) => one.isFile() && one.name.endsWith('.json'))) {
    const text = await readFile(join(file.parentPath, file.name), 'utf8');
    expect(() => JSON.parse(text), join(file.parentPath, file.name)).not.toThrow();
  }
}

describe.each(DISKS)('a whole builder on a disk that fails with %s', (code, reason, whatToDo) => {
  it('is not made, says what to do, and is made once the disk takes writes', async () => {
    const { workflow, open, reached } = holdRun();
    open();
    void reached;
    disk.fail(code);
    await expect(machine.build({ workflows: [workflow] })).rejects.toMatchObject({
      ...{ kind: 'state_unusable', reason, message: expect.stringContaining(whatToDo) },
    });
    disk.mend();
    await using builder = await machine.build({ workflows: [workflow] });
    const run = await builder.workflows.start({ workflow: 'one', iteration: '1' });
    expect((await run.wait()).outcome).toBe('completed');
    expect(machine.sessions.userMessages()).toEqual(['write', 'learn']);
  });

  it('refuses each use typed, sends nothing, and goes on with what ran once the disk takes writes', async () => {
    const { workflow, open, reached } = holdRun();
    await using builder = await machine.build({ workflows: [workflow] });
    const chat = await builder.chats.open({ agent: 'coder', chatId: 'c' });
    await chat.send('hello');
    const run = await builder.workflows.start({ workflow: 'one', iteration: '1' });
    await reached;
    disk.fail(code);
    open();
    for (const [name, use] of Object.entries(usesOf(builder))) {
      const outcome = await use().then(
        () => 'taken',
        (error: unknown) => error,
      );
      expect(isTurnError(outcome), `${name}: ${String(outcome)}`).toBe(true);
      expect(outcome, name).toMatchObject({ kind: 'state_unusable', reason });
      expect(String(outcome), name).toContain(whatToDo);
    }
    expect(disk.failures()).toBeGreaterThan(0);
    await checkWhole();
    expect((await run.view()).outcome).toBe('open');
    disk.mend();
    expect((await run.wait()).outcome).toBe('completed');
    expect((await chat.send('again')).answer).toBe('answer to again');
    expect(machine.sessions.userMessages().toSorted()).toEqual([
      'again',
      'hello',
      'learn',
      'write',
    ]);
    await checkWhole();
  });

  it('closes, and the next one goes on with what it left', async () => {
    const { workflow, open, reached } = holdRun();
    {
      await using builder = await machine.build({ workflows: [workflow] });
      await builder.workflows.start({ workflow: 'one', iteration: '1' });
      await reached;
      disk.fail(code);
      open();
    }
    await checkWhole();
    // The first one could not even write that it let go. It does as soon as it can, and the next one looks for that.
    await using builder = await machine.build({ workflows: [workflow] });
    expect(builder.recovery.executions.left).toMatchObject([
      { executionId: '1~main~draft', reason: 'live_owner' },
    ]);
    disk.mend();
    const run = await builder.workflows.get({ iteration: '1', group: 'main' });
    expect((await run.wait()).outcome).toBe('completed');
    expect(machine.sessions.userMessages()).toEqual(['write', 'learn']);
  });
});
