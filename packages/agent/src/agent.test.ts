import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  isContinuationError,
  providerCapabilities,
  type SessionConfig,
  stableDigests,
} from '@holdfast/provider-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemorySessions } from './__fixtures__/memory-sessions.js';
import { Agent } from './agent.js';
import type { AgentOptions } from './agent-options.js';
import type { AgentSessionHandle } from './agent-session-handle.js';
import { providerCoreSessions } from './provider-sessions.js';
import type { AgentTurn, AgentTurnEvent } from './turn/agent-turn.js';

const TURN = '11111111-1111-4111-8111-111111111111';

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

async function collect(turn: AgentTurn): Promise<{ events: AgentTurnEvent[]; error?: unknown }> {
  const events: AgentTurnEvent[] = [];
  try {
    for await (const event of turn) events.push(event);
  } catch (error) {
    return { events, error };
  }
  return { events };
}

describe('continueAgentSession', () => {
  it('continues from a handle that went through JSON, in an agent that never saw the session', async () => {
    const { handle } = await createAgent().askWithHistory([{ role: 'user', content: 'one' }]);
    const stored: AgentSessionHandle = JSON.parse(JSON.stringify(handle));

    const later = createAgent();
    const result = await later.continueAgentSession(stored, 'two', { turnId: TURN });
    expect(result).toMatchObject({ answer: 'answer to two', turnId: TURN });
    expect(later.currentAgentSessionHandle()?.provider.lastTurnId).toBe(TURN);
    expect(sessions.userMessages()).toEqual(['one', 'two']);
  });

  it('rejects a stale handle with the one final event of that name, and sends nothing', async () => {
    const { handle } = await createAgent().askWithHistory([{ role: 'user', content: 'one' }]);
    const elsewhere = createAgent({ workingDir: '/elsewhere' });
    const turn = elsewhere.continueAgentSession(handle, 'two');

    const { events, error } = await collect(turn);
    expect(events).toMatchObject([
      { type: 'stale_handle', changedField: 'working_dir', sequence: 0 },
    ]);
    expect(error).toMatchObject({ kind: 'stale_handle', changedField: 'working_dir' });
    expect(elsewhere.currentAgentSessionHandle()).toBeUndefined();
    expect(sessions.userMessages()).toEqual(['one']);
  });

  it('goes on with its own start when the first message was never taken in', async () => {
    sessions.onStep = (step) => {
      if (step === 'prepared') throw new Error('cut off');
    };
    const dying = createAgent();
    const first = dying.askWithHistory([{ role: 'user', content: 'one' }], { turnId: TURN });
    const handle = await first.handle;
    await expect(first).rejects.toThrow('cut off');
    sessions.onStep = () => {};

    const result = await createAgent().continueAgentSession(handle, 'one', { turnId: TURN });
    expect(result.answer).toBe('answer to one');
    expect(sessions.world.sessions.size).toBe(1);
    await expect(
      createAgent().continueAgentSession(handle, 'two', { turnId: TURN }),
    ).rejects.toMatchObject({ kind: 'turn_conflict' });
  });

  it('never starts another session for a new message to one that was never acknowledged', async () => {
    sessions.onStep = () => {
      throw new Error('cut off');
    };
    const first = createAgent().askWithHistory([{ role: 'user', content: 'one' }]);
    const handle = await first.handle;
    await expect(first).rejects.toThrow();
    await expect(createAgent().continueAgentSession(handle, 'two')).rejects.toMatchObject({
      kind: 'non_continuable',
      missing: 'acknowledged_turn',
    });
    expect(sessions.world.sessions.size).toBe(1);
  });
});

describe('applyAgentSessionHandle', () => {
  const handle = (provider: object) =>
    ({
      agentId: 'a',
      sessionId: 's',
      ownerId: 'o',
      scope: 'chat',
      correlationId: 'c',
      provider: { provider: 'claude-code', transport: 'tmux', nativeSessionId: 'n-1', ...provider },
    }) as AgentSessionHandle;

  it('takes the identity of the handle, except for what the agent was given', () => {
    const agent = createAgent({ ownerId: 'new-owner' });
    agent.applyAgentSessionHandle(handle({}));
    expect(agent.currentAgentSessionHandle()).toMatchObject({
      sessionId: 's',
      ownerId: 'new-owner',
    });
  });

  it.each([
    [
      'another provider',
      { provider: 'codex-cli' },
      { kind: 'stale_handle', changedField: 'provider' },
    ],
    ['another working directory', { workingDir: '/else' }, { changedField: 'working_dir' }],
    [
      'no native id',
      { nativeSessionId: '' },
      { kind: 'non_continuable', missing: 'native_session_id' },
    ],
    ['an unknown transport', { transport: 'x' }, { kind: 'non_continuable', missing: 'transport' }],
  ])('refuses a handle with %s before anything changes', (_what, change, expected) => {
    const agent = createAgent();
    agent.applyAgentSessionHandle(handle({}));
    const before = agent.currentAgentSessionHandle();
    expect(() => agent.applyAgentSessionHandle(handle(change))).toThrow(
      expect.objectContaining(expected),
    );
    expect(agent.currentAgentSessionHandle()).toBe(before);
  });

  it.each<[string, Partial<SessionConfig>]>([
    ['model', { model: 'other' }],
    ['system_prompt', { systemPrompt: 'other' }],
    ['mcp_config', { mcpServers: { one: { command: 'other' } } }],
    ['tool_policy', { toolPolicy: { permissions: 'full' } }],
  ])('names %s when its digest differs', (field, change) => {
    const config: SessionConfig = { workingDir: '/project', model: 'm', systemPrompt: 'p' };
    const fields = providerCapabilities('claude-code').stableFields;
    const stableFields = stableDigests('claude-code', config, fields);
    const agent = createAgent({ ...config, ...change, sessions: providerCoreSessions });
    let thrown: unknown;
    try {
      agent.applyAgentSessionHandle(handle({ stableFields }));
    } catch (error) {
      thrown = error;
    }
    expect(isContinuationError(thrown)).toBe(true);
    expect(thrown).toMatchObject({ kind: 'stale_handle', changedField: field });

    const same = createAgent({ ...config, sessions: providerCoreSessions });
    same.applyAgentSessionHandle(handle({ stableFields }));
    expect(same.currentAgentSessionHandle()?.provider.nativeSessionId).toBe('n-1');
  });

  it('is refused while a turn runs', async () => {
    const agent = createAgent();
    const turn = agent.askWithHistory([{ role: 'user', content: 'one' }]);
    expect(() => agent.applyAgentSessionHandle(handle({}))).toThrow(
      expect.objectContaining({ kind: 'session_busy' }),
    );
    await turn;
  });
});

describe('a turn', () => {
  it('gives its events from a sequence on, the final one last, to any number of readers', async () => {
    const turn = createAgent().askWithHistory([{ role: 'user', content: 'one' }]);
    const { events, error } = await collect(turn);
    expect(error).toBeUndefined();
    expect(events.map(({ type }) => type)).toEqual(['running', 'terminal_opened', 'completed']);
    expect(events.map(({ sequence }) => sequence)).toEqual([0, 1, 2]);
    expect(events.at(-1)).toMatchObject({ handle: (await turn).handle });

    const rest: AgentTurnEvent[] = [];
    for await (const event of turn.events({ from: 1 })) rest.push(event);
    expect(rest).toEqual(events.slice(1));
  });

  it('numbers the events of several messages through, with one final event', async () => {
    const turn = createAgent().askWithHistory([
      { role: 'user', content: 'one' },
      { role: 'user', content: 'two' },
    ]);
    const { events } = await collect(turn);
    expect(events.map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3, 4]);
    expect(events.filter(({ type }) => type === 'completed')).toHaveLength(1);
    expect(new Set(events.map(({ turnId }) => turnId))).toEqual(new Set([turn.turnId]));
  });

  it('tells its handle before it ends', async () => {
    const agent = createAgent();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    sessions.onStep = () => held;
    const turn = agent.askWithHistory([{ role: 'user', content: 'one' }]);
    const handle = await turn.handle;
    expect(Object.values(handle).every(Boolean)).toBe(true);
    release();
    expect((await turn).handle.provider.nativeSessionId).toBe(handle.provider.nativeSessionId);
  });

  it('is interrupted before anything is sent when it still waits', async () => {
    const agent = createAgent();
    const first = agent.askWithHistory([{ role: 'user', content: 'one' }]);
    const second = agent.askWithHistory(
      [
        { role: 'user', content: 'one' },
        { role: 'user', content: 'two' },
      ],
      {
        whenBusy: 'wait',
      },
    );
    await second.interrupt();
    await expect(second).rejects.toMatchObject({ kind: 'turn_interrupted', accepted: false });
    await first;
    expect(sessions.userMessages()).toEqual(['one']);
  });

  it('is cancelled by its signal, and by nothing a reader does', async () => {
    const agent = createAgent();
    const abort = new AbortController();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    sessions.onStep = (step) => (step === 'accepted' ? held : undefined);
    const turn = agent.askWithHistory([{ role: 'user', content: 'one' }], { signal: abort.signal });
    for await (const _event of turn) break;
    abort.abort();
    release();
    await expect(turn).rejects.toMatchObject({ kind: 'turn_interrupted', accepted: true });
  });

  it('tells the caller before the first native change', async () => {
    const told: unknown[] = [];
    const turn = createAgent().askWithHistory([{ role: 'user', content: 'one' }], {
      turnId: TURN,
      onBeforeNativeChange: (change) => {
        told.push([change.turnId, change.handle?.scope, sessions.userMessages()]);
      },
    });
    await turn;
    expect(told).toEqual([[TURN, 'chat', []]]);
  });

  it('throws a TypeError at once for a turn id that is no UUID, and after detach', async () => {
    const agent = createAgent();
    const ask = (turnId?: string) =>
      agent.askWithHistory([{ role: 'user', content: 'one' }], { turnId });
    expect(() => ask('one')).toThrow(TypeError);
    await agent.detach();
    expect(() => ask()).toThrow(TypeError);
  });
});

describe('an agent', () => {
  it.each([
    ['a relative working directory', { workingDir: 'project' }],
    ['no working directory', { workingDir: '' }],
    ['a provider nobody registered', { provider: 'nobody' as 'codex-cli' }],
  ])('is not made with %s', (_what, options) => {
    expect(() => createAgent(options)).toThrow(TypeError);
  });
});

describe('close and inspect', () => {
  it('reports what is known and ends the session without forgetting its handle', async () => {
    await using agent = createAgent();
    expect(await agent.inspect()).toEqual({ queued: 0, running: false });
    expect(await agent.close()).toBeUndefined();
    await agent.askWithHistory([{ role: 'user', content: 'one' }]);
    expect((await agent.inspect()).session?.state).toBe('present');
    await agent.close();
    expect(agent.currentAgentSessionHandle()?.provider.status).toBe('closed');
  });
});
