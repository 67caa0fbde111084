import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ProviderFailedError,
  RateLimitedError,
  type SteerResult,
  waitUntil,
} from '@holdfast/agent';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MemorySessions } from '../__fixtures__/memory-sessions.js';
import { keys } from '../persistence/keys.js';
import { type StartedChats, startChats } from './__fixtures__/start-chats.js';
import type { Chat } from './chats.js';

const FIRST = '11111111-1111-4111-8111-111111111111';
const SECOND = '22222222-2222-4222-8222-222222222222';

let root = '';
let sessions = new MemorySessions();
let release = () => {};

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-post-'));
  sessions = new MemorySessions();
});
afterEach(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));

const build = () => startChats({ dir: root, sessions });

const openChat = ({ chats }: StartedChats) => chats.open({ chatId: 'chat-1', agent: 'coder' });

/** Until `release()` every turn stands still once its message is taken in. */
function holdTurns(): void {
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  sessions.onStep = (step) => (step === 'accepted' ? held : undefined);
}

/** Until the chat's log tells so much of what it tells of posted messages. */
async function told(chat: Chat, ...wanted: readonly string[]): Promise<void> {
  let seen: readonly string[] = [];
  await waitUntil(
    async () => {
      seen = await deliveries(chat);
      return wanted.every((one) => seen.includes(one));
    },
    { awaiting: `${wanted.join(', ')}; the log tells ${seen.join(', ')}`, deadlineMs: 20_000 },
  );
}

async function deliveries(chat: Chat): Promise<readonly string[]> {
  const seen: string[] = [];
  for await (const event of chat.events()) {
    const outcome = event.type === 'message_confirmed' ? `:${event.outcome}` : '';
    if (event.type.startsWith('message_')) seen.push(`${event.type}${outcome}`);
  }
  return seen;
}

async function idle(chat: Chat): Promise<void> {
  await waitUntil(
    async () => (await chat.view()).status === 'idle' && (await waiting()).length === 0,
    { awaiting: 'an idle chat with an empty inbox', deadlineMs: 20_000 },
  );
}

const waiting = () => readdir(join(root, 'data/chats/chat-1/inbox')).catch(() => []);

describe('a message to an idle chat', () => {
  it('starts a turn, and the caller hears of it once the provider took it in', async () => {
    await using builder = await build();
    const chat = await openChat(builder);
    holdTurns();
    const delivery = await chat.post('one', { policy: 'fail', turnId: FIRST });
    expect(delivery).toMatchObject({ status: 'started_turn', turnId: FIRST, messageId: FIRST });
    expect(sessions.userMessages()).toEqual(['one']);
    expect((await chat.view()).status).toBe('running');
    release();
    await idle(chat);
    expect(await deliveries(chat)).toEqual(['message_confirmed:confirmed']);
    expect((await chat.view()).messages.map(({ text }) => text)).toEqual(['one', 'answer to one']);
  });

  it('rejects with the error of a turn that never took it in, and the log says failed', async () => {
    await using builder = await build();
    const chat = await openChat(builder);
    await chat.send('one');
    sessions.onStep = (step) => {
      if (step === 'prepared') throw new ProviderFailedError('overloaded', 'later');
    };
    await expect(chat.post('two', { policy: 'queue', turnId: SECOND })).rejects.toMatchObject({
      kind: 'provider_failed',
    });
    expect(await deliveries(chat)).toEqual(['message_confirmed:failed']);
    sessions.onStep = () => {};
    expect(await chat.post('two', { policy: 'fail', turnId: SECOND })).toMatchObject({
      status: 'started_turn',
    });
    await idle(chat);
    expect(sessions.userMessages()).toEqual(['one', 'two']);
  });

  it('is refused where there is no such chat, policy or id', async () => {
    await using builder = await build();
    await openChat(builder);
    const { chats } = builder;
    await expect(chats.post('chat-2', 'one', { policy: 'queue' })).rejects.toMatchObject({
      kind: 'unknown_chat',
    });
    await expect(chats.post('chat-1', 'one', { policy: 'drop' as 'fail' })).rejects.toThrow('drop');
    await expect(
      chats.post('chat-1', 'one', { policy: 'queue', turnId: 'no-uuid' }),
    ).rejects.toThrow(TypeError);
    expect(sessions.sent).toEqual([]);
  });
});

describe('a message to a chat in which nothing runs, and that somebody has not let go of yet', () => {
  it('waits for that moment, whatever its policy, and starts its turn', async () => {
    await using builder = await build();
    const chat = await openChat(builder);
    const { lease } = await builder.context.store.acquire(keys.chatLease('chat-1'));
    const acquire = vi.spyOn(builder.context.store, 'acquire');
    const posted = chat.post('one', { policy: 'fail' });
    const other = chat.post('two', { policy: 'queue' });
    await expect.poll(() => acquire.mock.results.length, { timeout: 10_000 }).toBeGreaterThan(0);
    expect(await acquire.mock.results[0]?.value).toMatchObject({ heldBy: { pid: process.pid } });
    await lease?.release();
    expect(await posted).toMatchObject({ status: 'started_turn' });
    expect(['started_turn', 'queued']).toContain((await other).status);
    await idle(chat);
    expect(sessions.userMessages()).toEqual(['one', 'two']);
  });
});

describe('B105: a message to a busy chat', () => {
  it('fails, or waits for a turn of its own, in the order the messages came, nothing merged', async () => {
    await using builder = await build();
    const chat = await openChat(builder);
    holdTurns();
    await chat.post('one', { policy: 'queue' });
    await expect(chat.post('now', { policy: 'fail' })).rejects.toMatchObject({
      kind: 'session_busy',
    });
    const posted = ['two', 'three', 'four', 'five'].map((text) =>
      chat.post(text, { policy: 'queue' }),
    );
    expect((await Promise.all(posted)).map(({ status }) => status)).toEqual(
      Array.from({ length: 4 }, () => 'queued'),
    );
    release();
    await idle(chat);
    expect(sessions.userMessages()).toEqual(['one', 'two', 'three', 'four', 'five']);
    expect((await chat.view()).turns.map(({ state }) => state)).toEqual(
      Array.from({ length: 5 }, () => 'completed'),
    );
    const outcomes = (await chat.view()).deliveries.map(({ status, outcome }) => [status, outcome]);
    expect(outcomes).toEqual(Array.from({ length: 4 }, () => ['queued', 'confirmed']));
    // The log tells of the end a moment before the marker goes.
    await expect.poll(() => readdir(join(root, 'data/open')), { timeout: 10_000 }).toEqual([]);
  });

  it('goes into the running turn where that takes one, and stands before its answer', async () => {
    await using builder = await build();
    const chat = await openChat(builder);
    holdTurns();
    sessions.onSteer = () => ({ outcome: 'accepted', detail: 'taken' });
    await chat.post('one', { policy: 'steer', turnId: FIRST });
    expect(await chat.post('and more', { policy: 'steer', turnId: SECOND })).toEqual({
      status: 'steered',
      turnId: FIRST,
      messageId: SECOND,
      detail: 'taken',
    });
    release();
    await idle(chat);
    expect(sessions.userMessages()).toEqual(['one', 'and more']);
    expect((await chat.view()).messages.map(({ text }) => text)).toEqual([
      'one',
      'and more',
      'answer to one',
    ]);
    expect(await deliveries(chat)).toEqual([
      'message_confirmed:confirmed',
      'message_steered',
      'message_confirmed:confirmed',
    ]);
  });

  it('is queued when the running turn refuses it, and said once', async () => {
    await using builder = await build();
    const chat = await openChat(builder);
    holdTurns();
    await chat.post('one', { policy: 'steer' });
    expect(await chat.post('two', { policy: 'steer' })).toMatchObject({ status: 'queued' });
    release();
    await idle(chat);
    expect(sessions.userMessages()).toEqual(['one', 'two']);
    expect((await chat.view()).messages.map(({ text }) => text)).toEqual([
      'one',
      'answer to one',
      'two',
      'answer to two',
    ]);
  });

  it('goes no second way when nobody knows whether it came in, also posted again', async () => {
    await using builder = await build();
    const chat = await openChat(builder);
    for (const outcome of [
      (): SteerResult => ({ outcome: 'unknown', detail: 'the pane went away' }),
      (): SteerResult => {
        throw new Error('the pane went away');
      },
    ]) {
      holdTurns();
      sessions.onSteer = outcome;
      const turnId = crypto.randomUUID();
      await chat.post('one', { policy: 'steer' });
      for (let round = 0; round < 2; round += 1) {
        expect(await chat.post('two', { policy: 'steer', turnId })).toMatchObject({
          status: 'uncertain',
          messageId: turnId,
        });
      }
      release();
      await idle(chat);
      expect(await chat.post('two', { policy: 'queue', turnId })).toMatchObject({
        status: 'uncertain',
      });
    }
    expect(sessions.userMessages()).toEqual(['one', 'one']);
    expect(await waiting()).toEqual([]);
  });

  it('B103: is sent once however often it is posted under one id, and never as another message', async () => {
    await using builder = await build();
    const chat = await openChat(builder);
    holdTurns();
    await chat.post('one', { policy: 'queue', turnId: FIRST });
    const again = await Promise.all(
      [FIRST, SECOND, SECOND, SECOND].map((turnId) =>
        chat.post(turnId === FIRST ? 'one' : 'two', { policy: 'queue', turnId }),
      ),
    );
    expect(again.map(({ status }) => status)).toEqual([
      'started_turn',
      'queued',
      'queued',
      'queued',
    ]);
    await expect(chat.post('other', { policy: 'queue', turnId: SECOND })).rejects.toMatchObject({
      kind: 'turn_conflict',
    });
    await expect(chat.post('other', { policy: 'steer', turnId: FIRST })).rejects.toMatchObject({
      kind: 'turn_conflict',
    });
    release();
    await idle(chat);
    expect(await chat.post('two', { policy: 'queue', turnId: SECOND })).toMatchObject({
      status: 'started_turn',
    });
    expect(sessions.userMessages()).toEqual(['one', 'two']);
  });

  it('waits through a limit, and goes first once that is over', async () => {
    await using builder = await build();
    const chat = await openChat(builder);
    holdTurns();
    await chat.post('one', { policy: 'queue' });
    await chat.post('two', { policy: 'queue', turnId: SECOND });
    await chat.post('three', { policy: 'queue' });
    const resume = release;
    sessions.onStep = (step, turnId) => {
      if (step === 'prepared' && turnId === SECOND) throw new RateLimitedError('full');
    };
    resume();
    await waitUntil(async () => (await chat.view()).turns[1]?.state === 'failed', {
      awaiting: 'the second turn to be refused',
      deadlineMs: 20_000,
    });
    expect(await waiting()).toHaveLength(2);
    sessions.onStep = () => {};
    expect(await chat.post('four', { policy: 'queue' })).toMatchObject({ status: 'queued' });
    await idle(chat);
    expect(sessions.userMessages()).toEqual(['one', 'two', 'three', 'four']);
  });

  it('is run by the other process that has the chat, whoever posted it', async () => {
    await using one = await build();
    await using two = await build();
    const chat = await openChat(one);
    holdTurns();
    await chat.post('one', { policy: 'queue' });
    sessions.onSteer = () => ({ outcome: 'accepted', detail: 'taken' });
    for (const [index, text] of ['two', 'three', 'four', 'five'].entries()) {
      const { chats } = index % 2 ? one : two;
      const policy = index % 2 ? 'queue' : 'steer';
      expect(await chats.post('chat-1', text, { policy })).toMatchObject({ status: 'queued' });
    }
    release();
    await idle(chat);
    expect(sessions.userMessages()).toEqual(['one', 'two', 'three', 'four', 'five']);
    await told(chat, 'message_queued', 'message_confirmed:confirmed');
  });
});
