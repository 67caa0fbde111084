import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProviderFailedError } from '@holdfast/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemorySessions, type MemoryWorld, type Step } from '../__fixtures__/memory-sessions.js';
import { createBuilder } from '../create-builder.js';

const FIRST = '11111111-1111-4111-8111-111111111111';
const SECOND = '22222222-2222-4222-8222-222222222222';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-recovery-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** A machine: its disk, and what its providers know. */
interface Machine {
  readonly dir: string;
  readonly sessions: MemorySessions;
}

const build = ({ dir, sessions }: Machine, agents = ['coder']) =>
  createBuilder({
    dataDir: join(dir, 'data'),
    agents: Object.fromEntries(
      agents.map((id) => [
        id,
        {
          provider: 'claude-code' as const,
          workingDir: '/project',
          stateDir: join(dir, 'state'),
          sessions,
        },
      ]),
    ),
  });

/** The machine as it stands now, with every process of ours dead: a copy without the leases the living hold. */
async function copyMachine(machine: Machine, world: MemoryWorld, name: string): Promise<Machine> {
  const dir = join(root, name);
  await cp(machine.dir, dir, { recursive: true, filter: (path) => !/lease$/.test(path) });
  return { dir, sessions: new MemorySessions(structuredClone(world)) };
}

/** Two turns of one chat; at each step of each turn a copy of the machine is taken. */
async function runAndCopy(): Promise<{ name: string; machine: Machine }[]> {
  const machine = { dir: join(root, 'origin'), sessions: new MemorySessions() };
  const copies: { name: string; machine: Machine }[] = [];
  const copyAt = async (step: Step, turnId: string) => {
    const name = `${turnId.slice(0, 1)}-${step}`;
    copies.push({ name, machine: await copyMachine(machine, machine.sessions.world, name) });
  };
  const builder = await build(machine);
  const chat = await builder.chats.open({ chatId: 'chat-1', agent: 'coder' });
  machine.sessions.onStep = copyAt;
  await chat.send('one', { turnId: FIRST });
  await chat.send('two', { turnId: SECOND });
  return copies;
}

describe('createBuilder after a crash', () => {
  it('settles the open turn, once, at whichever step of it the service died', async () => {
    const copies = await runAndCopy();
    expect(copies.map(({ name }) => name)).toEqual([
      '1-prepared',
      '1-accepted',
      '1-ended',
      '2-prepared',
      '2-accepted',
      '2-ended',
    ]);
    for (const { name, machine } of copies) {
      const builder = await build(machine);
      const turnId = name.startsWith('1') ? FIRST : SECOND;
      expect(builder.recovery.chats, name).toEqual([
        { chatId: 'chat-1', turnId, outcome: 'completed' },
      ]);
      const owed = name.startsWith('1') ? ['one'] : ['one', 'two'];
      expect(machine.sessions.userMessages(), name).toEqual(owed);
      expect(machine.sessions.world.sessions.size, name).toBe(1);
      const { messages, status } = await (await builder.chats.get('chat-1')).view();
      expect(
        messages.map(({ text }) => text),
        name,
      ).toEqual(owed.flatMap((text) => [text, `answer to ${text}`]));
      expect(status, name).toBe('idle');

      const again = await build(machine);
      expect(again.recovery.chats, name).toEqual([]);
      expect(machine.sessions.userMessages(), name).toEqual(owed);
    }
  });

  it('settles the open turn, once, wherever in its log the writing stopped', async () => {
    const machine = { dir: join(root, 'origin'), sessions: new MemorySessions() };
    const builder = await build(machine);
    const chat = await builder.chats.open({ chatId: 'chat-1', agent: 'coder' });
    await chat.send('one', { turnId: FIRST });
    let accepted: MemoryWorld | undefined;
    let prepared: MemoryWorld | undefined;
    machine.sessions.onStep = (step) => {
      if (step === 'prepared') prepared = structuredClone(machine.sessions.world);
      if (step === 'accepted') accepted = structuredClone(machine.sessions.world);
    };
    await chat.send('two', { turnId: SECOND });
    const log = await readFile(join(machine.dir, 'data/chats/chat-1/events.jsonl'), 'utf8');
    const lines = log.split('\n').filter(Boolean);
    const started = lines.findIndex(
      (line) => line.includes('"turn_started"') && line.includes(SECOND),
    );
    expect(started).toBeGreaterThan(0);

    let cuts = 0;
    for (let line = started + 1; line < lines.length; line += 1) {
      const whole = `${lines.slice(0, line).join('\n')}\n`;
      const torn = whole + (lines[line] ?? '').slice(0, 25);
      for (const [kind, text] of Object.entries({ whole, torn })) {
        for (const [moment, world] of Object.entries({
          prepared,
          accepted,
          ended: machine.sessions.world,
        })) {
          const name = `${line}-${kind}-${moment}`;
          const copy = await copyMachine(machine, world ?? machine.sessions.world, name);
          await writeFile(join(copy.dir, 'data/chats/chat-1/events.jsonl'), text);
          await writeFile(join(copy.dir, 'data/open/chat-1'), '{}').catch(() => {});
          const recovered = await build(copy);
          expect(recovered.recovery.chats, name).toMatchObject([{ outcome: 'completed' }]);
          expect(copy.sessions.userMessages(), name).toEqual(['one', 'two']);
          const view = await (await recovered.chats.get('chat-1')).view();
          expect(
            view.messages.map(({ text: said }) => said),
            name,
          ).toEqual(['one', 'answer to one', 'two', 'answer to two']);
          cuts += 1;
        }
      }
    }
    expect(cuts).toBeGreaterThan(20);
  });

  it('sends nothing for a message that never came to the log', async () => {
    const machine = { dir: join(root, 'origin'), sessions: new MemorySessions() };
    const builder = await build(machine);
    await builder.chats.open({ chatId: 'chat-1', agent: 'coder' });
    await writeFile(join(machine.dir, 'data/open/chat-1'), '{}').catch(async () => {
      await cp(join(machine.dir, 'data/FORMAT'), join(machine.dir, 'data/open/chat-1'));
    });
    expect((await build(machine)).recovery.chats).toEqual([]);
    expect(machine.sessions.sent).toEqual([]);
  });

  it('reports an unknown agent and keeps what is owed until it is known again', async () => {
    const copies = await runAndCopy();
    const machine = copies.find(({ name }) => name === '2-prepared')?.machine;
    if (!machine) throw new Error('unreachable: the step was copied');
    const without = await build(machine, ['somebody']);
    expect(without.recovery.chats).toMatchObject([
      { chatId: 'chat-1', outcome: 'left', reason: 'unknown_agent' },
    ]);
    expect(machine.sessions.userMessages()).toEqual(['one']);
    expect((await build(machine)).recovery.chats).toMatchObject([{ outcome: 'completed' }]);
    expect(machine.sessions.userMessages()).toEqual(['one', 'two']);
  });

  it('B107: leaves a chat alone that a living builder works on', async () => {
    const machine = { dir: join(root, 'origin'), sessions: new MemorySessions() };
    const builder = await build(machine);
    const chat = await builder.chats.open({ chatId: 'chat-1', agent: 'coder' });
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    machine.sessions.onStep = (step) => (step === 'accepted' ? held : undefined);
    const turn = chat.send('one');
    await turn.handle;
    expect((await build(machine)).recovery.chats).toMatchObject([
      { chatId: 'chat-1', outcome: 'left', reason: 'busy' },
    ]);
    release();
    await turn;
    expect(machine.sessions.userMessages()).toEqual(['one']);
  });

  it('settles an open turn that fails, typed, and lets the caller go on with it', async () => {
    const copies = await runAndCopy();
    const machine = copies.find(({ name }) => name === '2-accepted')?.machine;
    if (!machine) throw new Error('unreachable: the step was copied');
    machine.sessions.onStep = (step) => {
      if (step === 'accepted') throw new ProviderFailedError('overloaded', 'later');
    };
    const builder = await build(machine);
    expect(builder.recovery.chats).toMatchObject([
      { turnId: SECOND, outcome: 'failed', error: { kind: 'provider_failed' } },
    ]);
    machine.sessions.onStep = () => {};
    const result = await builder.chats.send('chat-1', 'two', { turnId: SECOND });
    expect(result.answer).toBe('answer to two');
    expect(machine.sessions.userMessages().filter((text) => text === 'two')).toHaveLength(1);
  });

  it('settles a turn left open before the next message of the chat', async () => {
    const copies = await runAndCopy();
    const machine = copies.find(({ name }) => name === '1-prepared')?.machine;
    if (!machine) throw new Error('unreachable: the step was copied');
    // The mark is lost: only the log still says that something is owed.
    await rm(join(machine.dir, 'data/open'), { recursive: true });
    const builder = await build(machine);
    expect(builder.recovery.chats).toEqual([]);
    await builder.chats.send('chat-1', 'three');
    expect(machine.sessions.userMessages()).toEqual(['one', 'three']);
  });
});
