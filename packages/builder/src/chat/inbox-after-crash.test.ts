import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@holdfast/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemorySessions, type Step } from '../__fixtures__/memory-sessions.js';
import { startChats } from './__fixtures__/start-chats.js';
import { drainChatInbox } from './drain-inbox.js';

const FIRST = '11111111-1111-4111-8111-111111111111';
const SECOND = '22222222-2222-4222-8222-222222222222';
const THIRD = '33333333-3333-4333-8333-333333333333';

/** A machine: its disk, and what its providers know. */
interface Machine {
  readonly dir: string;
  readonly sessions: MemorySessions;
}

let root = '';
let origin: Machine;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-inbox-'));
  origin = { dir: join(root, 'origin'), sessions: new MemorySessions() };
});
afterEach(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));

/** The machine as it stands now, with every process of ours dead: a copy without the leases the living hold. */
async function copyMachine(name: string): Promise<Machine> {
  const dir = join(root, name);
  const world = structuredClone(origin.sessions.world);
  await cp(origin.dir, dir, { recursive: true, filter: (path) => !/lease$/.test(path) });
  return { dir, sessions: new MemorySessions(world) };
}

const waiting = ({ dir }: Machine) => readdir(join(dir, 'data/chats/chat-1/inbox')).catch(() => []);

/** A chat whose first turn stands still, with two messages behind it. */
async function postBehindRunningTurn() {
  const builder = await startChats(origin);
  const chat = await builder.chats.open({ chatId: 'chat-1', agent: 'coder' });
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  origin.sessions.onStep = (step) => (step === 'accepted' ? held : undefined);
  await chat.post('one', { policy: 'queue', turnId: FIRST });
  await chat.post('two', { policy: 'queue', turnId: SECOND });
  await chat.post('three', { policy: 'queue', turnId: THIRD });
  return { builder, chat, release };
}

async function expectAllAnswered(machine: Machine, name: string): Promise<void> {
  const again = await startChats(machine);
  const chat = await again.chats.get('chat-1');
  const { messages, deliveries, status } = await chat.view();
  expect(machine.sessions.userMessages(), name).toEqual(['one', 'two', 'three']);
  expect(
    messages.map(({ text }) => text),
    name,
  ).toEqual(['one', 'two', 'three'].flatMap((text) => [text, `answer to ${text}`]));
  expect(
    deliveries.map(({ messageId, outcome }) => [messageId, outcome]),
    name,
  ).toEqual([
    [SECOND, 'confirmed'],
    [THIRD, 'confirmed'],
  ]);
  expect(status, name).toBe('idle');
  expect(await waiting(machine), name).toEqual([]);
  expect(await readdir(join(machine.dir, 'data/open')), name).toEqual([]);
}

describe('messages that wait when the service dies', () => {
  it('each get their turn, once, in order, when chats are recovered', async () => {
    const { release, chat } = await postBehindRunningTurn();
    const machine = await copyMachine('behind');
    release();
    const { recovered } = await startChats(machine);
    expect(recovered.map((one) => [one.turnId, one.outcome])).toEqual([
      [FIRST, 'completed'],
      [SECOND, 'completed'],
      [THIRD, 'completed'],
    ]);
    await expectAllAnswered(machine, 'behind');
    await waitUntil(async () => (await waiting(origin)).length === 0, {
      awaiting: 'the end of the origin',
      deadlineMs: 20_000,
    });
    await waitUntil(async () => (await chat.view()).status === 'idle', {
      awaiting: 'the end of the origin',
      deadlineMs: 20_000,
    });
  });

  it('get it once at whichever step of which turn it died, also where it dies twice', async () => {
    const { release, chat } = await postBehindRunningTurn();
    const copies = new Map<string, Machine>();
    origin.sessions.onStep = async (step: Step, turnId: string) => {
      const name = `${turnId.slice(0, 1)}-${step}`;
      copies.set(name, await copyMachine(name));
    };
    release();
    await waitUntil(
      async () =>
        (await chat.view()).turns.every(({ state }) => state === 'completed') &&
        (await waiting(origin)).length === 0,
      {
        awaiting: 'the end of the origin',
        deadlineMs: 20_000,
      },
    );
    expect([...copies.keys()]).toEqual([
      '1-ended',
      '2-prepared',
      '2-accepted',
      '2-ended',
      '3-prepared',
      '3-accepted',
      '3-ended',
    ]);
    for (const [name, machine] of copies) {
      await startChats(machine);
      await expectAllAnswered(machine, name);
    }
  });

  it('are the job engine’s where there is one, and its handler does the same', async () => {
    const { release } = await postBehindRunningTurn();
    const machine = await copyMachine('engine');
    release();
    const jobs: string[] = [];
    const engine = {
      enqueue: async (queue: string, id: string) => {
        jobs.push(`${queue}/${id}`);
        return true;
      },
    };
    const { recovered, context } = await startChats({ ...machine, engine });
    expect(recovered.map((one) => [one.turnId, one.outcome])).toEqual([[FIRST, 'completed']]);
    expect(jobs).toEqual(['chats/chat-1']);
    expect(await waiting(machine)).toHaveLength(2);
    const { signal } = new AbortController();
    expect(await drainChatInbox(context, 'chat-1', signal)).toEqual({ state: 'done' });
    await expectAllAnswered(machine, 'engine');
  });

  it('wait for whoever has the chat, and no longer than the signal', async () => {
    const { release, builder } = await postBehindRunningTurn();
    const stop = new AbortController();
    const handled = drainChatInbox(builder.context, 'chat-1', stop.signal);
    stop.abort();
    expect(await handled).toMatchObject({ state: 'later' });
    const other = await startChats(origin);
    expect(other.recovered).toMatchObject([{ outcome: 'left', reason: 'busy' }]);
    const goesOn = drainChatInbox(other.context, 'chat-1', new AbortController().signal);
    origin.sessions.onStep = () => {};
    release();
    expect(await goesOn).toEqual({ state: 'done' });
    await waitUntil(async () => (await waiting(origin)).length === 0, {
      awaiting: 'an empty inbox',
      deadlineMs: 20_000,
    });
    await expectAllAnswered(origin, 'origin');
  });
});

describe('a text that was on its way into a running turn when the service died', () => {
  it('is uncertain from then on, and goes no second way', async () => {
    const { release, chat } = await postBehindRunningTurn();
    let machine: Machine | undefined;
    origin.sessions.onSteer = async () => {
      machine = await copyMachine('steering');
      return { outcome: 'refused', detail: 'the origin goes on' };
    };
    const turnId = '44444444-4444-4444-8444-444444444444';
    await chat.post('by the way', { policy: 'steer', turnId });
    origin.sessions.onStep = () => {};
    release();
    if (!machine) throw new Error('unreachable: it was copied');
    const { chats } = await startChats(machine);
    expect(await chats.post('chat-1', 'by the way', { policy: 'queue', turnId })).toMatchObject({
      status: 'uncertain',
      turnId: FIRST,
      messageId: turnId,
    });
    expect(machine.sessions.userMessages()).toEqual(['one', 'two', 'three']);
    await waitUntil(async () => (await waiting(origin)).length === 0, {
      awaiting: 'the end of the origin',
      deadlineMs: 20_000,
    });
  });
});
