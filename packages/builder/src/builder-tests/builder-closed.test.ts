import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defineWorkflow } from '../workflow/workflow-definition.js';
import { type BuilderMachine, createBuilderMachine } from './__fixtures__/builder-machine.js';

let machine: BuilderMachine;
beforeEach(async () => {
  machine = await createBuilderMachine();
});
afterEach(() => machine.dispose());

const one = defineWorkflow({
  id: 'one',
  steps: [{ id: 'draft', agent: 'coder', prompt: 'write', learning: { prompt: 'learn' } }],
});

describe('a closed builder', () => {
  it('takes nothing more: each use is a TypeError that says so, and closing again changes nothing', async () => {
    const builder = await machine.build({ workflows: [one] });
    const chat = await builder.chats.open({ agent: 'coder', chatId: 'c' });
    const run = await builder.workflows.start({ workflow: 'one', iteration: '1' });
    await run.wait();
    await Promise.all([builder.close(), builder.close(), builder[Symbol.asyncDispose]()]);
    const uses: Record<string, () => unknown> = {
      open: () => builder.chats.open({ agent: 'coder' }),
      send: () => chat.send('x'),
      sendById: () => builder.chats.send('c', 'x'),
      post: () => chat.post('x', { policy: 'queue' }),
      closeChat: () => chat.close(),
      startRun: () => builder.workflows.start({ workflow: 'one' }),
      stopRun: () => run.stop('x'),
      lock: () => builder.workflows.withLearningLock(async () => 1),
      startExecution: () =>
        builder.executions.start({
          key: { iteration: 'i', group: 'g', step: 's' },
          ownerKind: 'background_agent',
          agent: 'coder',
          prompt: 'x',
        }),
      stopExecution: () => builder.executions.stop('1~main~draft', 'x'),
      resume: () => builder.executions.resume('1~main~draft'),
      retry: () => builder.notifications.retry('1~main~run'),
      repair: () => builder.repair(),
    };
    for (const [name, use] of Object.entries(uses)) {
      const refused = Promise.resolve().then(use);
      await expect(refused, name).rejects.toThrow(
        new TypeError('This builder was closed; make another one.'),
      );
    }
    expect(machine.sessions.userMessages()).toEqual(['write', 'learn']);
    expect((await run.wait()).outcome).toBe('completed');
  });

  it('leaves what ran to the next one, which goes on at once and sends nothing twice', async () => {
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
    {
      await using builder = await machine.build({ workflows: [held] });
      await builder.workflows.start({ workflow: 'one', iteration: '1' });
      await isReached;
    }
    await using next = await machine.build({ workflows: [one] });
    const jobs = next.recovery.jobs;
    expect(jobs.left).toEqual([]);
    expect(jobs.queued.map(({ queue, attempt }) => [queue, attempt]).sort()).toEqual([
      ['executions', 0],
      ['runs', 0],
    ]);
    const run = await next.workflows.get({ iteration: '1', group: 'main' });
    const view = await run.wait();
    expect(view.outcome).toBe('completed');
    expect(view.executions[0]?.phases.pre_validation?.attempt).toBe(1);
    expect(machine.sessions.userMessages()).toEqual(['write', 'learn']);
  });
});

describe('who follows events', () => {
  it.each(['run', 'execution', 'chat', 'builder'] as const)(
    'of a %s comes to an end when the builder closes, whatever its own signal says',
    async (whose) => {
      const builder = await machine.build({ workflows: [one] });
      const chat = await builder.chats.open({ agent: 'coder', chatId: 'c' });
      const run = await builder.workflows.start({ workflow: 'one', iteration: '1' });
      await run.wait();
      const follow = new AbortController().signal;
      const events = {
        run: () => run.events({ follow }),
        execution: () => builder.executions.events('1~main~draft', { follow }),
        chat: () => chat.events({ follow }),
        builder: () => builder.events('c', { follow }),
      }[whose]();
      let seen = 0;
      let noteSeen = () => {};
      const isSeen = new Promise<void>((resolve) => (noteSeen = resolve));
      const following = (async () => {
        for await (const _event of events) {
          seen += 1;
          noteSeen();
        }
      })();
      await isSeen;
      await builder.close();
      await following;
      expect(seen).toBeGreaterThan(0);
    },
  );
});

describe('a rejection nobody awaits', () => {
  it('of a chat turn does not end the process', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', note);
    try {
      await using builder = await machine.build({ workflows: [one] });
      const chat = await builder.chats.open({ agent: 'coder', chatId: 'c' });
      machine.sessions.onStep = () => {
        throw new TypeError('the model fell over');
      };
      const turn = chat.send('x');
      for await (const event of turn.events()) expect(event.type).toBeDefined();
    } catch {
      // The iteration tells it too; nobody ever awaited the turn itself.
    } finally {
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
      process.off('unhandledRejection', note);
    }
    expect(unhandled).toEqual([]);
  });
});
