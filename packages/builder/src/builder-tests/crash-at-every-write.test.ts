import { join } from 'node:path';
import { waitUntil } from '@holdfast/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemorySessions } from '../__fixtures__/memory-sessions.js';
import { type Builder, createBuilder } from '../create-builder.js';
import { type Death, MemoryDisk, MemoryStore } from '../executions/__fixtures__/memory-store.js';
import { outboxStateOf } from '../notifications/notification.js';
import { keys } from '../persistence/keys.js';
import { defineWorkflow } from '../workflow/workflow-definition.js';
import { type BuilderMachine, createBuilderMachine } from './__fixtures__/builder-machine.js';

let machine: BuilderMachine;
beforeEach(async () => {
  machine = await createBuilderMachine();
});
afterEach(() => machine.dispose());

const PARENT = '1~main~draft';
const CHILD = { iteration: '1', group: 'main', step: 'agent-000000000001' };
const SURE_WRITES = 150;
const MESSAGES = ['hello', 'write', 'part', 'again', 'review', 'learn', 'more', 'study', 'help'];

/** Everything there is, told to a chat; the second step starts a sub-agent of its own. */
function workflowOf(findBuilder: () => Promise<Builder>) {
  return defineWorkflow({
    id: 'whole',
    steps: [
      {
        id: 'draft',
        agent: 'coder',
        prompt: 'write',
        subSteps: [{ id: 'part', agent: 'coder', prompt: 'part', notify: false }],
        preValidate: (answer) =>
          answer === 'answer to again' ? { passed: true } : { passed: false, feedback: 'again' },
        kbReview: { prompt: 'review' },
        learning: { prompt: 'learn' },
      },
      {
        id: 'more',
        agent: 'coder',
        prompt: async () => {
          const { executions } = await findBuilder();
          await executions.start({
            key: CHILD,
            ownerKind: 'sub_agent',
            agent: 'coder',
            prompt: 'help',
            owner: { kind: 'execution', executionId: '1~main~more' },
          });
          return 'more';
        },
        learning: { mode: 'agent', prompt: 'study' },
      },
    ],
  });
}

interface Life {
  readonly disk: MemoryDisk;
  readonly sessions: MemorySessions;
  readonly stateDir: string;
  readonly death?: Death;
}

/** One life of a service: it asks for its work, and goes on until all is told or it dies. */
async function live({ disk, sessions, stateDir, death }: Life) {
  const store = new MemoryStore(disk, death);
  let ready = (_builder: Builder) => {};
  const isReady = new Promise<Builder>((resolve) => (ready = resolve));
  const coder = { provider: 'claude-code', workingDir: machine.dir, stateDir, sessions } as const;
  let builder: Builder | undefined;
  try {
    builder = await createBuilder({
      dataDir: machine.dataDir,
      store,
      agents: { coder },
      workflows: [workflowOf(() => isReady)],
    });
    ready(builder);
    await work(builder, store);
    const jobs = [...disk.records.keys()].filter((key) => /^engine\/.*\/jobs\//.test(key));
    return { builder, writes: store.writes, died: false, jobs };
  } catch (error) {
    if (!store.isDead) throw error;
    return { builder, writes: store.writes, died: true, jobs: [] };
  }
}

async function work(builder: Builder, store: MemoryStore): Promise<void> {
  const chat = await builder.chats.open({ agent: 'coder', chatId: 'boss' });
  const turnId = '00000000-0000-4000-8000-000000000001';
  await chat.post('hello', { policy: 'queue', turnId });
  const notify = { kind: 'chat', chatId: 'boss' } as const;
  await builder.workflows.start({ workflow: 'whole', iteration: '1', notify });
  const isOver = async () => {
    // A death that only the engine saw.
    if (store.isDead) return true;
    const open = await Promise.all(
      ['runs', 'executions', 'chats', 'notifications'].map((queue) => store.list(keys.jobs(queue))),
    );
    return (
      open.flat().length === 0 && (await chat.view()).turns.every(({ state }) => state !== 'open')
    );
  };
  await waitUntil(isOver, { awaiting: 'the end of all work', deadlineMs: 50_000 });
  if (store.isDead) throw new TypeError('it died');
}

async function expectWhole(builder: Builder, sessions: MemorySessions, name: string) {
  const run = await builder.workflows.get({ iteration: '1', group: 'main' });
  const view = await run.view();
  expect([view.outcome, ...view.executions.map(({ outcome }) => outcome)], name).toEqual(
    Array(5).fill('completed'),
  );
  const entries = await builder.notifications.list();
  expect(entries.map(outboxStateOf), name).toEqual(Array(entries.length).fill('delivered'));
  const messages = sessions.userMessages();
  const told = messages.filter((text) => text.startsWith('[AUTO-NOTIFICATION]'));
  expect(told.length, name).toBe(new Set(told).size);
  expect(told.length, name).toBe(3);
  expect(messages.filter((text) => !told.includes(text)).sort(), name).toEqual(MESSAGES.toSorted());
  // A dead one's place that is left is passed over, and taken away once its execution has ended.
  const { state, waiting } = await builder.workflows.learningLock();
  expect([state, waiting.filter(({ isAlive }) => isAlive)], name).toEqual(['free', []]);
  expect((await builder.executions.get(PARENT)).phases.auto_notification?.status, name).toBe(
    'completed',
  );
}

async function dieAndGoOn(death: Death): Promise<void> {
  const name = `write ${death.at}, ${death.when}`;
  const disk = new MemoryDisk();
  const sessions = new MemorySessions();
  const stateDir = join(machine.dir, `${death.when}-${death.at}`);
  const first = await live({ disk, sessions, stateDir, death });
  // How many writes there are differs by a few, since some are made side by side.
  if (death.at <= SURE_WRITES) expect(first.died, name).toBe(true);
  disk.dropLeases();
  const second = await live({ disk, sessions, stateDir });
  if (!second.builder || second.died) throw new TypeError(`${name}: it died again`);
  await expectWhole(second.builder, sessions, name);
  expect(second.jobs, name).toEqual([]);
  await Promise.all([first.builder?.close(), second.builder.close()]);
}

/** Each test kills at so many writes; all together kill at each. */
const WRITES = 20;
const PARTS = Array.from({ length: 12 }, (_part, index) => index * WRITES + 1);

describe('a whole builder', () => {
  it('does so many writes that the tests below kill at each of them', async () => {
    const sessions = new MemorySessions();
    const stateDir = join(machine.dir, 'whole');
    const { builder, writes, died } = await live({ disk: new MemoryDisk(), sessions, stateDir });
    if (!builder || died) throw new TypeError('it died of itself');
    await expectWhole(builder, sessions, 'whole');
    await builder.close();
    expect(writes).toBeGreaterThan(150);
    expect(writes).toBeLessThan(WRITES * (PARTS.length + 1));
  });

  it.each(PARTS)(
    'that dies at a write goes on and sends, tells and learns everything once, from write %i on',
    async (from) => {
      const writes = Array.from({ length: WRITES }, (_write, index) => from + index);
      // Before the next one is the same disk.
      const deaths = writes.map((at) => ({ at, when: 'after' }) as const);
      await Promise.all(deaths.map(dieAndGoOn));
    },
    120_000,
  );
});
