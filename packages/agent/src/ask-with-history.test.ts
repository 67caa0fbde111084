import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  isTurnError,
  ProviderFailedError,
  SessionBusyError,
  UndeliverableMessageError,
} from '@holdfast/provider-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemorySessions } from './__fixtures__/memory-sessions.js';
import { Agent } from './agent.js';
import type { AgentOptions } from './agent-options.js';
import type { ConversationMessage } from './message.js';

const TURN = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';

let stateDir = '';
let sessions = new MemorySessions();

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'holdfast-agent-'));
  sessions = new MemorySessions();
});
afterEach(() => rm(stateDir, { recursive: true }));

const createAgent = (options: Partial<AgentOptions> = {}) =>
  new Agent({
    provider: 'claude-code',
    workingDir: '/project',
    stateDir,
    sessions,
    ...options,
  } as AgentOptions);
const user = (content: string): ConversationMessage => ({ role: 'user', content });
const assistant = (content: string): ConversationMessage => ({ role: 'assistant', content });

describe('askWithHistory', () => {
  it('starts a session without a handle and continues it natively afterwards', async () => {
    const agent = createAgent();
    const first = await agent.askWithHistory([user('one')]);
    const second = await agent.askWithHistory([user('one'), assistant(first.answer), user('two')]);

    expect(second.answer).toBe('answer to two');
    expect(sessions.sent.map(({ kind, text }) => [kind, text])).toEqual([
      ['start', 'one'],
      ['continue', 'two'],
    ]);
    expect(agent.currentAgentSessionHandle()).toEqual(second.handle);
  });

  it('delivers every undelivered message once, in order, one turn each', async () => {
    const agent = createAgent();
    const result = await agent.askWithHistory([user('one'), user('two'), user('three')], {
      turnId: TURN,
    });

    expect(sessions.userMessages()).toEqual(['one', 'two', 'three']);
    expect(result).toMatchObject({ answer: 'answer to three', turnId: TURN });
    expect(new Set(sessions.sent.map(({ turnId }) => turnId)).size).toBe(3);
  });

  it('sends nothing twice when the same call is made again by an agent that was cut off', async () => {
    const messages = [user('one'), user('two'), user('three')];
    const dying = createAgent();
    sessions.onStep = (step, turnId) => {
      if (step === 'accepted' && turnId !== sessions.sent[0]?.turnId) throw new Error('cut off');
    };
    await expect(dying.askWithHistory(messages, { turnId: TURN })).rejects.toThrow('cut off');
    sessions.onStep = () => {};

    const result = await createAgent().askWithHistory(messages, { turnId: TURN });
    expect(result.answer).toBe('answer to three');
    expect(sessions.userMessages().filter((text) => text !== 'Continue.')).toEqual([
      'one',
      'two',
      'three',
    ]);
  });

  it('gives the stored answer when a finished call is made again', async () => {
    const agent = createAgent();
    const first = await agent.askWithHistory([user('one')], { turnId: TURN });
    const again = await agent.askWithHistory([user('one')], { turnId: TURN });

    expect(again.answer).toBe(first.answer);
    expect(sessions.userMessages()).toEqual(['one']);
  });

  it.each([
    ['edited', [user('One'), assistant('answer to one'), user('two')], 0],
    ['cut', [user('one')], 1],
    ['given an answer the session never gave', [user('one'), assistant('other'), user('two')], 1],
  ])('refuses a history that was %s, and sends nothing', async (_what, messages, index) => {
    const agent = createAgent();
    await agent.askWithHistory([user('one')], { turnId: TURN });

    const error = await agent.askWithHistory(messages, { turnId: OTHER }).catch((thrown) => thrown);
    expect(error).toMatchObject({ kind: 'history_diverged', index });
    expect(isTurnError(error)).toBe(true);
    expect(sessions.userMessages()).toEqual(['one']);
  });

  it('refuses earlier answers without a session, unless told to seed it', async () => {
    const messages = [user('one'), assistant('elsewhere'), user('two')];
    await expect(createAgent().askWithHistory(messages)).rejects.toMatchObject({
      kind: 'history_diverged',
      index: 1,
    });
    expect(sessions.sent).toEqual([]);

    const agent = createAgent();
    const seeded = await agent.askWithHistory(messages, { seedHistory: true });
    expect(sessions.userMessages()).toEqual([
      [
        'This conversation began elsewhere. What was said so far, one JSON object a line:',
        '<earlier-conversation>',
        '{"role":"user","content":"one"}',
        '{"role":"assistant","content":"elsewhere"}',
        '</earlier-conversation>',
        'The next message:',
        'two',
      ].join('\n'),
    ]);
    await agent.askWithHistory([...messages, assistant(seeded.answer), user('three')]);
    expect(sessions.userMessages().at(-1)).toBe('three');
  });

  it('sends a seeded message again byte for byte when its call is repeated', async () => {
    const messages = [user('one'), assistant('elsewhere'), user('two')];
    const options = { seedHistory: true, turnId: TURN };
    const agent = createAgent();
    const first = await agent.askWithHistory(messages, options);
    const again = await agent.askWithHistory(messages, options);
    expect(again.answer).toBe(first.answer);
    expect(sessions.userMessages()).toHaveLength(1);
  });

  it('lets the next message follow one that failed after it was taken in', async () => {
    const agent = createAgent();
    sessions.onStep = (step) => {
      if (step === 'accepted') throw new ProviderFailedError('overloaded', 'try later');
    };
    await expect(agent.askWithHistory([user('one')])).rejects.toMatchObject({
      kind: 'provider_failed',
    });
    sessions.onStep = () => {};

    await agent.askWithHistory([user('one'), user('two')]);
    expect(sessions.userMessages()).toEqual(['one', 'two']);
  });

  it('does not count a message as held when the provider failed before it was taken in', async () => {
    const agent = createAgent();
    await agent.askWithHistory([user('one')]);
    sessions.onStep = (step) => {
      if (step === 'prepared') throw new ProviderFailedError('unknown', 'the hook threw');
    };
    await expect(agent.askWithHistory([user('one'), user('two')])).rejects.toThrow();
    sessions.onStep = () => {};

    await agent.askWithHistory([user('one'), user('two'), user('three')]);
    expect(sessions.userMessages()).toEqual(['one', 'two', 'three']);
  });

  it('keeps a message open whose second try was refused: the first one may have come in', async () => {
    const agent = createAgent();
    await agent.askWithHistory([user('one')]);
    const tries = [new Error('cut off'), new UndeliverableMessageError('test', 'not like this')];
    sessions.onStep = (step) => {
      const error = step === 'prepared' ? tries.shift() : undefined;
      if (error) throw error;
    };
    const messages = [user('one'), user('two')];
    await expect(agent.askWithHistory(messages)).rejects.toThrow('cut off');
    await expect(agent.askWithHistory(messages)).rejects.toThrow('not like this');
    await expect(agent.askWithHistory([user('one'), user('changed')])).rejects.toMatchObject({
      kind: 'history_diverged',
      index: 1,
    });
  });

  it('takes a session of unknown history to hold all but the newest message', async () => {
    const origin = createAgent();
    const { handle } = await origin.askWithHistory([user('one')]);
    await rm(join(stateDir, 'agents'), { recursive: true });

    const agent = createAgent();
    const messages = [user('one'), assistant('answer to one'), user('two')];
    await agent.continueAgentSessionWithHistory(handle, messages);
    expect(sessions.userMessages()).toEqual(['one', 'two']);
    await expect(agent.askWithHistory([user('other'), user('three')])).rejects.toMatchObject({
      kind: 'history_diverged',
      index: 0,
    });
  });

  it('sends nothing when another process moved the session on while it waited', async () => {
    const agent = createAgent();
    const { handle } = await agent.askWithHistory([user('one')]);
    const other = createAgent();
    const messages = [user('one'), assistant('answer to one'), user('two')];
    sessions.onStep = () => {};
    const begin = sessions.continue;
    const late = new MemorySessions(sessions.world);
    Object.defineProperty(sessions, 'continue', {
      value: (...args: Parameters<typeof begin>) => {
        // Between the plan and the lease, the other agent's turn goes through.
        const [given, message, options] = args;
        return begin(given, message, {
          ...options,
          onBeforeNativeChange: async (change) => {
            sessions.running.clear();
            await createAgent({ sessions: late }).continueAgentSession(handle, 'two');
            await options.onBeforeNativeChange?.(change);
          },
        });
      },
    });
    await expect(other.continueAgentSessionWithHistory(handle, messages)).rejects.toMatchObject({
      kind: 'history_diverged',
    });
    expect(sessions.userMessages()).toEqual(['one', 'two']);
  });

  it.each([
    ['no messages', []],
    ['an answer as the last message', [user('one'), assistant('first')]],
    ['an unknown role', [{ role: 'tool', content: 'x' }]],
    ['a message without text', [{ role: 'user', content: 7 }]],
    ['a system message that is not the agent’s own', [{ role: 'system', content: 'x' }, user('a')]],
  ])('throws a TypeError at once for %s', (_what, messages) => {
    expect(() => createAgent().askWithHistory(messages as ConversationMessage[])).toThrow(
      TypeError,
    );
  });

  it('fails clearly while a turn of its own runs, and waits when asked to', async () => {
    const agent = createAgent();
    const first = agent.askWithHistory([user('one')]);
    const refused = agent.askWithHistory([user('two')]);
    const waiting = agent.askWithHistory([user('one'), user('two')], { whenBusy: 'wait' });

    await expect(refused).rejects.toBeInstanceOf(SessionBusyError);
    await first;
    expect((await waiting).answer).toBe('answer to two');
    expect(sessions.userMessages()).toEqual(['one', 'two']);
  });
});
