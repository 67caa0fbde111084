import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RateLimitedError, UncertainDeliveryError } from '@holdfast/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemorySessions } from '../__fixtures__/memory-sessions.js';
import { startChats } from './__fixtures__/start-chats.js';

const FIRST = '11111111-1111-4111-8111-111111111111';

let root = '';
let sessions = new MemorySessions();

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-first-'));
  sessions = new MemorySessions();
});
afterEach(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));

const build = () => startChats({ dir: root, sessions });

function failBeforeIntake(error: Error): void {
  sessions.onStep = (step) => {
    if (step === 'prepared') throw error;
  };
}

describe('a chat whose first message never came in', () => {
  it('takes the next one, and the first one again after it', async () => {
    await using builder = await build();
    const chat = await builder.chats.open({ chatId: 'chat-1', agent: 'coder' });
    failBeforeIntake(new RateLimitedError('used up'));
    await expect(chat.send('one', { turnId: FIRST })).rejects.toMatchObject({
      kind: 'rate_limited',
    });
    sessions.onStep = () => {};
    expect((await chat.send('two')).answer).toBe('answer to two');
    expect((await chat.send('one', { turnId: FIRST })).answer).toBe('answer to one');
    expect((await chat.send('three')).answer).toBe('answer to three');
    expect(sessions.userMessages()).toEqual(['two', 'one', 'three']);
    const { turns } = await chat.view();
    expect(turns.map(({ state }) => state)).toEqual(['completed', 'completed', 'completed']);
  });

  it('takes a posted one, in another process too', async () => {
    {
      await using builder = await build();
      const chat = await builder.chats.open({ chatId: 'chat-1', agent: 'coder' });
      failBeforeIntake(new RateLimitedError('used up'));
      await expect(chat.post('one', { policy: 'queue' })).rejects.toMatchObject({
        kind: 'rate_limited',
      });
    }
    sessions.onStep = () => {};
    await using builder = await build();
    const chat = await builder.chats.get('chat-1');
    expect(await chat.post('two', { policy: 'fail' })).toMatchObject({ status: 'started_turn' });
    expect(sessions.userMessages()).toEqual(['two']);
  });

  it('begins no session anew where nobody knows whether it came in', async () => {
    await using builder = await build();
    const chat = await builder.chats.open({ chatId: 'chat-1', agent: 'coder' });
    failBeforeIntake(
      new UncertainDeliveryError({
        ...{ what: 'the pane went away', journal: 'submitting' },
        ...{ record: 'unknown', process: 'unknown' },
      }),
    );
    await expect(chat.send('one')).rejects.toMatchObject({ kind: 'uncertain_delivery' });
    sessions.onStep = () => {};
    await expect(chat.send('two')).rejects.toMatchObject({
      kind: 'non_continuable',
      missing: 'acknowledged_turn',
    });
    expect(sessions.userMessages()).toEqual([]);
  });
});
