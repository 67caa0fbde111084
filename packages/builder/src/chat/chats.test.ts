import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  acquireLease,
  errorFromJson,
  isTurnError,
  ProviderFailedError,
  waitUntil,
} from '@holdfast/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemorySessions } from '../__fixtures__/memory-sessions.js';
import { type Builder, createBuilder } from '../create-builder.js';
import { isChatError } from './chat-error.js';
import type { ChatEvent } from './chat-event.js';

const TURN = '11111111-1111-4111-8111-111111111111';

let root = '';
let dataDir = '';
let sessions = new MemorySessions();

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-builder-'));
  dataDir = join(root, 'data');
  sessions = new MemorySessions();
});
afterEach(() => rm(root, { recursive: true, force: true }));

const build = (agents?: Parameters<typeof createBuilder>[0]['agents']): Promise<Builder> =>
  createBuilder({
    dataDir,
    agents: agents ?? {
      coder: () => ({
        provider: 'claude-code',
        workingDir: '/project',
        stateDir: join(root, 'state'),
        sessions,
      }),
    },
  });

async function readAll(events: AsyncIterable<ChatEvent>): Promise<ChatEvent[]> {
  const all: ChatEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe('a chat', () => {
  it('goes on in a builder that never saw it, with the handle from disk', async () => {
    const first = await build();
    const chat = await first.chats.open({ chatId: 'chat-1', agent: 'coder', title: 'Birds' });
    expect((await chat.send('one', { turnId: TURN })).answer).toBe('answer to one');
    await first.close();

    await using second = await build();
    const restored = await second.chats.open({ chatId: 'chat-1', agent: 'coder' });
    const result = await second.chats.send(restored, 'two');
    expect(result).toMatchObject({ chatId: 'chat-1', answer: 'answer to two' });
    expect(sessions.sent.map(({ kind }) => kind)).toEqual(['start', 'continue']);
    expect(await restored.view()).toMatchObject({
      agent: 'coder',
      title: 'Birds',
      status: 'idle',
      messages: [
        { role: 'user', text: 'one', turnId: TURN },
        { role: 'assistant', text: 'answer to one' },
        { role: 'user', text: 'two' },
        { role: 'assistant', text: 'answer to two' },
      ],
    });
  });

  it('keeps message and turn id on disk before anything is sent', async () => {
    await using builder = await build();
    const chat = await builder.chats.open({ agent: 'coder' });
    let seen: ChatEvent[] = [];
    sessions.onStep = async (step) => {
      if (step === 'prepared') seen = await readAll(chat.events());
    };
    await chat.send('one', { turnId: TURN });
    expect(seen.map(({ type }) => type)).toContain('turn_started');
    expect(seen.at(1)).toMatchObject({ type: 'turn_started', turnId: TURN, message: 'one' });
  });

  it('keeps the handle as soon as it is known, long before the answer', async () => {
    await using builder = await build();
    const chat = await builder.chats.open({ agent: 'coder' });
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    sessions.onStep = (step) => (step === 'accepted' ? held : undefined);
    const turn = chat.send('one');
    const handle = await turn.handle;
    expect((await chat.view()).handle).toEqual(handle);
    expect((await chat.view()).status).toBe('running');
    release();
    const result = await turn;
    expect((await chat.view()).handle).toEqual(result.handle);
  });

  it('fills every field of the handle, owned by the chat', async () => {
    await using builder = await build();
    const chat = await builder.chats.open({ chatId: 'chat-1', agent: 'coder' });
    expect((await chat.send('one')).handle).toMatchObject({
      agentId: 'coder:chat-1',
      sessionId: 'chat-1',
      ownerId: 'chat-1',
      scope: 'chat',
      correlationId: 'chat-1',
    });
  });

  it('gives a completed turn again without sending, and refuses its id for another message', async () => {
    await using builder = await build();
    const chat = await builder.chats.open({ agent: 'coder' });
    const first = await chat.send('one', { turnId: TURN });
    await chat.send('two');
    const asked = sessions.sent.length;
    expect(await chat.send('one', { turnId: TURN })).toMatchObject({
      answer: first.answer,
      turnId: TURN,
    });
    expect(sessions.sent).toHaveLength(asked);
    await expect(chat.send('other', { turnId: TURN })).rejects.toMatchObject({
      kind: 'turn_conflict',
    });
    expect(sessions.userMessages()).toEqual(['one', 'two']);
  });

  it('keeps the typed error of a failed turn, and goes on with it under the same id', async () => {
    await using builder = await build();
    const chat = await builder.chats.open({ agent: 'coder' });
    sessions.onStep = (step) => {
      if (step === 'accepted') throw new ProviderFailedError('overloaded', 'later');
    };
    await expect(chat.send('one', { turnId: TURN })).rejects.toMatchObject({
      kind: 'provider_failed',
      reason: 'overloaded',
    });
    const failed = (await chat.view()).turns[0];
    expect(failed?.state).toBe('failed');
    expect(isTurnError(errorFromJson(failed?.error))).toBe(true);

    sessions.onStep = () => {};
    expect((await chat.send('one', { turnId: TURN })).answer).toBe('answer to one');
    expect(sessions.userMessages()).toEqual(['one', 'Continue.']);
    expect((await chat.view()).turns).toMatchObject([{ state: 'completed' }]);
  });

  it('tells its events from a sequence on, and further ones as they come', async () => {
    await using builder = await build();
    const chat = await builder.chats.open({ chatId: 'chat-1', agent: 'coder' });
    await chat.send('one');
    const all = await readAll(builder.events('chat-1'));
    expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_event, index) => index));
    expect(await readAll(chat.events({ from: 3 }))).toEqual(all.slice(3));

    const stop = new AbortController();
    const followed: string[] = [];
    const following = (async () => {
      for await (const event of chat.events({ from: all.length, follow: stop.signal })) {
        followed.push(event.type);
        if (event.type === 'turn_completed') stop.abort();
      }
    })();
    await chat.send('two');
    await following;
    expect(followed.at(0)).toBe('turn_started');
    expect(followed.at(-1)).toBe('turn_completed');
  });

  it('is listed, found, and unknown under any other id', async () => {
    await using builder = await build();
    await builder.chats.open({ chatId: 'chat-1', agent: 'coder' });
    expect((await builder.chats.list()).map(({ chatId }) => chatId)).toEqual(['chat-1']);
    expect((await builder.chats.get('chat-1')).chatId).toBe('chat-1');
    const error = await builder.chats.get('chat-2').catch((thrown: unknown) => thrown);
    expect(isChatError(error) && error.kind).toBe('unknown_chat');
    await expect(builder.chats.send('chat-2', 'hello')).rejects.toMatchObject({
      kind: 'unknown_chat',
    });
    await expect(builder.chats.open({ chatId: '../x', agent: 'coder' })).rejects.toThrow(TypeError);
    expect(() => builder.chats.send('chat-1', '', { turnId: 'no uuid' })).toThrow(TypeError);
  });

  it('resumes after it was closed, in the same session', async () => {
    await using builder = await build();
    const chat = await builder.chats.open({ agent: 'coder' });
    await chat.send('one');
    const closed = await chat.close();
    expect(closed.status).toBe('closed');
    expect(closed.terminals.terminals.map(({ state }) => state)).toEqual(['previous']);
    await chat.send('two');
    expect(sessions.world.sessions.size).toBe(1);
    expect((await chat.view()).status).toBe('idle');
  });
});

describe('two builders on one data directory', () => {
  it('let one turn of a chat through; the other fails with the owner, or waits', async () => {
    await using one = await build();
    await using two = await build();
    const chat = await one.chats.open({ chatId: 'chat-1', agent: 'coder' });
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    sessions.onStep = (step) => (step === 'accepted' ? held : undefined);
    const running = chat.send('one');
    await running.handle;

    await expect(two.chats.send('chat-1', 'two')).rejects.toMatchObject({
      kind: 'session_busy',
      owner: { kind: 'ours', pid: process.pid },
    });
    const waiting = two.chats.send('chat-1', 'three', { whenBusy: 'wait' });
    release();
    await running;
    expect((await waiting).answer).toBe('answer to three');
    expect(sessions.userMessages()).toEqual(['one', 'three']);
  });

  it('open the same new chat once', async () => {
    await using one = await build();
    await using two = await build();
    await Promise.all(
      [one, two, one, two].map(({ chats }) => chats.open({ chatId: 'chat-1', agent: 'coder' })),
    );
    expect(await readAll(one.events('chat-1'))).toHaveLength(1);
  });
});

describe('terminals', () => {
  it('keep a replaced pane as previous and the new one as current, over a restart', async () => {
    const first = await build();
    const chat = await first.chats.open({ chatId: 'chat-1', agent: 'coder' });
    await chat.send('one');
    await chat.send('two');
    expect((await chat.terminals()).terminals).toHaveLength(1);
    const [session] = sessions.world.sessions.values();
    if (session) session.terminal = 2;
    await chat.send('three');

    await using second = await build();
    const group = await second.terminals.get('chat-1');
    expect(group.terminals.map(({ state }) => state)).toEqual(['previous', 'current']);
    expect(group.terminals[0]?.archivedAt).toBeDefined();
    expect(await second.terminals.list()).toEqual([group]);
  });
});

describe('what cannot be used', () => {
  it('is left as it is: a log with a lost line, one of a newer version, a newer data directory', async () => {
    const builder = await build();
    const chat = await builder.chats.open({ chatId: 'chat-1', agent: 'coder' });
    await chat.send('one');
    const path = join(dataDir, 'chats', 'chat-1', 'events.jsonl');
    const text = await readFile(path, 'utf8');
    const damaged = text.split('\n').toSpliced(1, 1, '#').join('\n');
    await writeFile(path, damaged);
    await expect(chat.send('two')).rejects.toMatchObject({
      kind: 'state_unusable',
      reason: 'damaged',
      path: 'chats/chat-1/events.jsonl',
    });
    expect(await builder.chats.list()).toMatchObject([{ chatId: 'chat-1', error: {} }]);
    expect(await readFile(path, 'utf8')).toBe(damaged);

    await writeFile(path, text);
    await appendFile(path, `{"schema_version":3,"type":"chat_starred"}\n`);
    await expect(chat.send('two')).rejects.toMatchObject({ reason: 'newer_format' });

    await writeFile(join(dataDir, 'FORMAT'), '2\n');
    await expect(build()).rejects.toMatchObject({ reason: 'newer_format' });
    expect(sessions.userMessages()).toEqual(['one']);
  });

  it('is named: an agent nobody registered, with the chat kept', async () => {
    const builder = await build();
    const chat = await builder.chats.open({ chatId: 'chat-1', agent: 'coder' });
    await chat.send('one');
    await using other = await build({});
    await expect(other.chats.send('chat-1', 'two')).rejects.toMatchObject({
      kind: 'unknown_agent',
      agent: 'coder',
    });
    await expect(other.chats.open({ agent: 'coder' })).rejects.toMatchObject({
      kind: 'unknown_agent',
    });
    expect((await chat.send('two')).answer).toBe('answer to two');
  });

  it('takes no work after close', async () => {
    const builder = await build();
    const chat = await builder.chats.open({ agent: 'coder' });
    await builder.close();
    expect(() => chat.send('one')).toThrow(TypeError);
  });

  it('waits no longer than its signal when the chat is busy', async () => {
    await using builder = await build();
    await builder.chats.open({ chatId: 'chat-1', agent: 'coder' });
    const dir = join(dataDir, 'chats', 'chat-1', 'lease');
    const { lease } = await acquireLease({ dir });
    const turn = builder.chats.send('chat-1', 'one', { whenBusy: 'wait' });
    await turn.interrupt();
    await expect(turn).rejects.toMatchObject({ kind: 'turn_interrupted', accepted: false });
    await lease?.release();
    await waitUntil(async () => (await builder.chats.list()).length === 1, {
      awaiting: 'the list',
      deadlineMs: 5_000,
    });
    expect(sessions.userMessages()).toEqual([]);
  });
});
