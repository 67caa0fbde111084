import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemorySessions } from '../__fixtures__/memory-sessions.js';
import { startChats } from './__fixtures__/start-chats.js';
import { sendToChat } from './send-to-chat.js';

const FIRST = '11111111-1111-4111-8111-111111111111';
const SECOND = '22222222-2222-4222-8222-222222222222';

let root = '';
let sessions = new MemorySessions();
let release = () => {};
const { signal } = new AbortController();

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-send-'));
  sessions = new MemorySessions();
});
afterEach(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));

/** A chat with a turn that stands still. */
async function startBusyChat() {
  const { chats, context } = await startChats({ dir: root, sessions });
  const chat = await chats.open({ chatId: 'chat-1', agent: 'coder' });
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  sessions.onStep = (step) => (step === 'accepted' ? held : undefined);
  await chat.post('one', { policy: 'fail', turnId: FIRST });
  return { chat, context };
}

const message = { turnId: SECOND, text: 'news', signal } as const;

describe('sendToChat', () => {
  it('is a turn of its own behind the one that runs, once', async () => {
    const { context, chat } = await startBusyChat();
    const sent = sendToChat(context, 'chat-1', { ...message, whenBusy: 'wait' });
    release();
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    expect(await sent).toMatchObject({
      state: 'turn_completed',
      result: { answer: 'answer to news', turnId: SECOND },
    });
    sessions.onStep = (step) => (step === 'accepted' ? held : undefined);
    sessions.onSteer = () => ({ outcome: 'accepted', detail: 'taken' });
    await chat.post('two', { policy: 'fail' });
    const again = sendToChat(context, 'chat-1', { ...message, whenBusy: 'steer' });
    release();
    expect(await again).toMatchObject({ state: 'turn_completed' });
    expect(sessions.userMessages()).toEqual(['one', 'news', 'two']);
  });

  it('goes into the running turn where it may and that takes it, once', async () => {
    const { context, chat } = await startBusyChat();
    sessions.onSteer = () => ({ outcome: 'accepted', detail: 'taken' });
    for (let round = 0; round < 2; round += 1) {
      expect(await sendToChat(context, 'chat-1', { ...message, whenBusy: 'steer' })).toEqual({
        state: 'steered',
      });
    }
    release();
    await chat.send('two', { whenBusy: 'wait' });
    expect(sessions.userMessages()).toEqual(['one', 'news', 'two']);
  });

  it('waits where the running turn refuses it', async () => {
    const { context } = await startBusyChat();
    const sent = sendToChat(context, 'chat-1', { ...message, whenBusy: 'steer' });
    release();
    expect(await sent).toMatchObject({ state: 'turn_completed' });
    expect(sessions.userMessages()).toEqual(['one', 'news']);
  });

  it('is uncertain each time where nobody knows whether the running turn took it', async () => {
    const { context, chat } = await startBusyChat();
    sessions.onSteer = () => ({ outcome: 'unknown', detail: 'the pane went away' });
    for (const whenBusy of ['steer', 'wait'] as const) {
      await expect(sendToChat(context, 'chat-1', { ...message, whenBusy })).rejects.toMatchObject({
        kind: 'uncertain_delivery',
      });
    }
    release();
    await chat.send('two', { whenBusy: 'wait' });
    expect(sessions.userMessages()).toEqual(['one', 'two']);
  });

  it('is refused for a chat that is not there', async () => {
    const { context } = await startChats({ dir: root, sessions });
    await expect(
      sendToChat(context, 'chat-1', { ...message, whenBusy: 'wait' }),
    ).rejects.toMatchObject({ kind: 'unknown_chat' });
  });
});
