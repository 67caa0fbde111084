import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { continueCodingAgentSession, RateLimitedError } from '@holdfast/provider-core';
import { describe, expect, it } from 'vitest';
import { agentSessionHandleFromLegacyRuntime } from '../legacy/map-legacy-runtime.js';
import { collect, createApiFixture } from './__fixtures__/api-fixture.js';
import { lastLine, ScriptedPort, say } from './__fixtures__/scripted-port.js';

const TURN = '11111111-1111-4111-8111-111111111111';
const PNG = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const;
const user = (content: string) => ({ role: 'user', content }) as const;
const assistant = (content: string) => ({ role: 'assistant', content }) as const;

const createEcho = () => new ScriptedPort((request) => say(`re ${lastLine(request)}`));

describe('an agent on a model API', () => {
  it('continues from its own transcript in another process, from the handle as JSON', async () => {
    const port = createEcho();
    await using fixture = await createApiFixture(port);
    const first = await fixture.createAgent().askWithHistory([user('one')]);
    expect(first).toMatchObject({
      answer: 're user: one',
      stopReason: 'end_turn',
      recovered: false,
    });
    const stored = JSON.parse(JSON.stringify(first.handle));
    expect(stored.provider).toMatchObject({
      provider: fixture.provider,
      transport: 'api',
      model: 'm-1',
      status: 'idle',
    });
    expect(stored.provider).not.toHaveProperty('nativeSessionId');

    const second = await fixture.createAgent().continueAgentSession(stored, 'two');
    expect(second.handle.sessionId).toBe(stored.sessionId);
    expect(port.conversations()).toEqual([
      ['user: one'],
      ['user: one', 'assistant: re user: one', 'user: two'],
    ]);
  });

  it('tells usage of the turn and of the session', async () => {
    await using fixture = await createApiFixture(createEcho());
    const { handle, turnId } = await fixture.createAgent().askWithHistory([user('one')]);
    const second = await fixture.createAgent().continueAgentSession(handle, 'two');
    expect(second.usage).toEqual({ inputTokens: 10, outputTokens: 1 });
    expect(second.sessionUsage).toEqual({ inputTokens: 20, outputTokens: 2 });
    const again = await fixture.createAgent().continueAgentSession(handle, 'one', { turnId });
    expect(again.sessionUsage).toEqual({ inputTokens: 10, outputTokens: 1 });
  });

  it('keeps the transcript where the session id says, for its owner alone', async () => {
    await using fixture = await createApiFixture(createEcho());
    const { handle } = await fixture.createAgent().askWithHistory([user('one')]);
    const path = join(fixture.stateDir, 'api', handle.sessionId, 'transcript.jsonl');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const types = (await readFile(path, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    expect(types).toEqual([
      'session_opened',
      'turn_started',
      'step_started',
      'step_finished',
      'turn_ended',
    ]);
  });

  it('names its session as the caller did, and goes on with it in a process that has no handle', async () => {
    const port = createEcho();
    await using fixture = await createApiFixture(port);
    const named = { sessionId: '../a chat/with: signs' };
    const { handle, answer } = await fixture.createAgent(named).askWithHistory([user('one')]);
    expect(handle.sessionId).toBe(named.sessionId);
    const messages = [user('one'), assistant(answer), user('two')];
    const later = fixture.createAgent(named);
    expect((await later.askWithHistory(messages)).answer).toBe('re user: two');
    const edited = [user('another'), assistant(answer), user('two')];
    await expect(fixture.createAgent(named).askWithHistory(edited)).rejects.toMatchObject({
      kind: 'history_diverged',
      index: 0,
    });
    expect(port.requests).toHaveLength(2);
  });

  it('takes the conversation it is given as its own when it has no session yet', async () => {
    const port = createEcho();
    await using fixture = await createApiFixture(port);
    const agent = fixture.createAgent();
    const past = [user('one'), assistant('first'), user('two'), assistant('second')];
    const { handle } = await agent.askWithHistory([...past, user('three')], { turnId: TURN });
    expect(port.conversations()[0]).toEqual([
      'user: one',
      'assistant: first',
      'user: two',
      'assistant: second',
      'user: three',
    ]);
    const again = fixture.createAgent();
    await again.askWithHistory([...past, user('three')], { turnId: TURN });
    expect(port.requests).toHaveLength(1);
    expect(again.currentAgentSessionHandle()?.sessionId).toBe(handle.sessionId);
    const other = [user('zero'), ...past.slice(1), user('three')];
    await expect(
      fixture.createAgent().askWithHistory(other, { turnId: TURN }),
    ).rejects.toMatchObject({ kind: 'turn_conflict' });
  });

  it('delivers what its session does not hold one turn each, and refuses a history that differs', async () => {
    const port = createEcho();
    await using fixture = await createApiFixture(port);
    const agent = fixture.createAgent();
    await agent.askWithHistory([user('one'), user('two')]);
    expect(port.conversations().at(-1)).toEqual([
      'user: one',
      'assistant: re user: one',
      'user: two',
    ]);
    const invented = [user('one'), assistant('never said'), user('two')];
    await expect(agent.askWithHistory(invented)).rejects.toMatchObject({
      kind: 'history_diverged',
      index: 1,
    });
    expect(port.requests).toHaveLength(2);
  });

  it('passes images on and tells them apart', async () => {
    const port = createEcho();
    await using fixture = await createApiFixture(port);
    const agent = fixture.createAgent();
    const message = [{ type: 'text', text: 'see' } as const, PNG];
    const { handle } = await agent.askWithHistory([{ role: 'user', content: message }], {
      turnId: TURN,
    });
    expect(port.requests[0]?.messages).toEqual([{ role: 'user', content: message }]);
    const other = [{ type: 'text', text: 'see' } as const, { ...PNG, data: 'BBBB' }];
    await expect(agent.continueAgentSession(handle, other, { turnId: TURN })).rejects.toMatchObject(
      { kind: 'turn_conflict' },
    );
    const later = fixture.createAgent();
    await later.continueAgentSession(handle, 'next');
    expect(port.requests[1]?.messages[0]).toEqual({ role: 'user', content: message });
  });

  it('replays a finished turn byte for byte, events included, and sends nothing', async () => {
    const port = createEcho();
    await using fixture = await createApiFixture(port);
    const turn = fixture.createAgent().askWithHistory([user('one')], { turnId: TURN });
    const before = await collect(turn);
    const result = await turn;
    const again = fixture
      .createAgent()
      .continueAgentSession(result.handle, 'one', { turnId: TURN });
    const after = await collect(again);
    expect(await again).toEqual(result);
    expect(after).toEqual(before);
    expect(before.events.map(({ type }) => type)).toEqual([
      'running',
      'text_delta',
      'usage',
      'answer',
      'completed',
    ]);
    expect(port.requests).toHaveLength(1);
  });

  it('goes on with a parked turn and never takes its message in twice', async () => {
    let isLimited = true;
    const port = new ScriptedPort(() => {
      if (isLimited) throw new RateLimitedError('slow down', '2030-01-01T00:00:00.000Z');
      return say('at last');
    });
    await using fixture = await createApiFixture(port);
    const agent = fixture.createAgent();
    const turn = agent.askWithHistory([user('one')], { turnId: TURN });
    await expect(turn).rejects.toMatchObject({
      kind: 'rate_limited',
      resetAt: '2030-01-01T00:00:00.000Z',
      turnId: TURN,
    });
    isLimited = false;
    const handle = await turn.handle;
    const result = await fixture
      .createAgent()
      .continueAgentSession(handle, 'one', { turnId: TURN });
    expect(result).toMatchObject({ answer: 'at last', recovered: true });
    expect(port.conversations()).toEqual([['user: one'], ['user: one']]);
  });

  it('finds a parked message again by what was said, without its turn id', async () => {
    let isLimited = true;
    const port = new ScriptedPort(() => {
      if (isLimited) throw new RateLimitedError('slow down');
      return say('at last');
    });
    await using fixture = await createApiFixture(port);
    const turn = fixture.createAgent().askWithHistory([user('one')]);
    await expect(turn).rejects.toMatchObject({ kind: 'rate_limited' });
    isLimited = false;
    const handle = await turn.handle;
    const later = fixture.createAgent();
    const result = await later.continueAgentSessionWithHistory(handle, [user('one')]);
    expect(result.answer).toBe('at last');
    expect(port.conversations()).toEqual([['user: one'], ['user: one']]);
  });

  it('ends a parked turn for good once a later message took its place', async () => {
    const port = new ScriptedPort((request) => {
      if (lastLine(request) === 'user: one') throw new RateLimitedError('slow down');
      return say('fine');
    });
    await using fixture = await createApiFixture(port);
    const turn = fixture.createAgent().askWithHistory([user('one')], { turnId: TURN });
    await expect(turn).rejects.toMatchObject({ kind: 'rate_limited' });
    const agent = fixture.createAgent();
    await agent.continueAgentSession(await turn.handle, 'two');
    expect(port.conversations().at(-1)).toEqual(['user: one', 'user: two']);
    const retry = () => agent.continueAgentSession(awaitedHandle(agent), 'one', { turnId: TURN });
    await expect(retry()).rejects.toMatchObject({ kind: 'turn_interrupted', isFinal: true });
    const asJson = async () => JSON.stringify(await retry().catch((error: unknown) => error));
    expect(await asJson()).toBe(await asJson());
    expect(port.requests).toHaveLength(2);
  });

  it.each([
    ['model', { model: 'm-2' }],
    ['system_prompt', { systemPrompt: 'other' }],
    ['mcp_config', { mcpServers: { one: { command: 'other' } } }],
    ['tool_policy', { toolPolicy: { permissions: 'full' } }],
    ['working_dir', { workingDir: '/elsewhere' }],
  ] as const)('is stale when %s changed, before anything is sent', async (field, change) => {
    const port = createEcho();
    await using fixture = await createApiFixture(port);
    const { handle } = await fixture.createAgent().askWithHistory([user('one')]);
    const stale = { kind: 'stale_handle', changedField: field };
    const changed = fixture.createAgent(change);
    expect(() => changed.applyAgentSessionHandle(handle)).toThrow(expect.objectContaining(stale));
    await expect(changed.continueAgentSession(handle, 'two')).rejects.toMatchObject(stale);
    // A handle that says nothing of it is judged by the transcript.
    const { stableFields: _digests, ...provider } = handle.provider;
    const bare = { ...handle, provider };
    await expect(changed.continueAgentSession(bare, 'two')).rejects.toMatchObject(stale);
    expect(port.requests).toHaveLength(1);
  });

  it('is non_continuable without a history, and starts nothing', async () => {
    const port = createEcho();
    await using fixture = await createApiFixture(port);
    const missing = { kind: 'non_continuable', missing: 'history' };
    const agent = fixture.createAgent();
    const none = agent.continueAgentSession(undefined as never, 'one');
    await expect(none).rejects.toMatchObject(missing);

    const { handle } = await fixture.createAgent().askWithHistory([user('one')]);
    await rm(join(fixture.stateDir, 'api', handle.sessionId), { recursive: true });
    const turn = fixture.createAgent().continueAgentSession(handle, 'two');
    const { events, error } = await collect(turn);
    expect(error).toMatchObject(missing);
    expect(events).toMatchObject([{ type: 'resume_unavailable', missing: 'history' }]);
    const whole = [user('one'), assistant('re user: one'), user('two')];
    await expect(
      fixture.createAgent().continueAgentSessionWithHistory(handle, whole),
    ).rejects.toMatchObject(missing);
    expect(port.requests).toHaveLength(1);
  });

  it.each([
    ['nothing', '', 'empty_message'],
    ['half a character', 'a \ud83d b', 'ill_formed_text'],
    ['a part nobody knows', [{ type: 'sound' }], 'unsupported_part'],
    ['a picture that is none', [{ ...PNG, mediaType: 'text/html' }], 'unsupported_part'],
  ])('refuses %s before it comes into the transcript', async (_what, message, reason) => {
    const port = createEcho();
    await using fixture = await createApiFixture(port);
    const { handle } = await fixture.createAgent().askWithHistory([user('one')]);
    const path = join(fixture.stateDir, 'api', handle.sessionId, 'transcript.jsonl');
    const before = await readFile(path, 'utf8');
    await expect(
      fixture.createAgent().continueAgentSession(handle, message as string),
    ).rejects.toMatchObject({ kind: 'undeliverable_message', reason });
    expect(await readFile(path, 'utf8')).toBe(before);
  });

  it('begins the transcript of a handle from elsewhere with the conversation it is given', async () => {
    const port = createEcho();
    await using fixture = await createApiFixture(port);
    const legacy = {
      provider: fixture.provider,
      kind: 'llm_agent',
      model_id: 'm-1',
      agent_session_handle: { session_id: 'old-chat' },
    };
    const handle = agentSessionHandleFromLegacyRuntime(legacy);
    if (!handle) throw new TypeError('no handle');
    const past = [user('one'), assistant('first')];
    const agent = fixture.createAgent();
    await expect(agent.continueAgentSession(handle, 'two')).rejects.toMatchObject({
      kind: 'non_continuable',
      missing: 'history',
    });
    const begun = await agent.continueAgentSessionWithHistory(handle, [...past, user('two')]);
    expect(begun.handle.sessionId).toBe('old-chat');
    await fixture.createAgent().continueAgentSession(begun.handle, 'three');
    expect(port.conversations()).toEqual([
      ['user: one', 'assistant: first', 'user: two'],
      ['user: one', 'assistant: first', 'user: two', 'assistant: re user: two', 'user: three'],
    ]);
  });

  it('is nothing provider-core could continue: non_applicable at once', async () => {
    await using fixture = await createApiFixture(createEcho());
    const { handle } = await fixture.createAgent().askWithHistory([user('one')]);
    const { stateDir } = fixture;
    await expect(
      continueCodingAgentSession(handle.provider, 'two', { stateDir }),
    ).rejects.toMatchObject({ kind: 'non_applicable' });
  });

  it('refuses a damaged transcript and one of a newer version, and leaves both as they are', async () => {
    const port = createEcho();
    await using fixture = await createApiFixture(port);
    const { handle } = await fixture.createAgent().askWithHistory([user('one')]);
    const path = join(fixture.stateDir, 'api', handle.sessionId, 'transcript.jsonl');
    const whole = await readFile(path, 'utf8');
    const lines = whole.split('\n');
    const cases = [
      [lines.with(2, lines[2]?.slice(3) ?? '').join('\n'), 'damaged'],
      [`${whole}{"type":"later_thing","turn_id":"t"}\n`, 'newer_format'],
      [lines.slice(1).join('\n'), 'damaged'],
    ] as const;
    for (const [content, reason] of cases) {
      await writeFile(path, content);
      await expect(fixture.createAgent().continueAgentSession(handle, 'two')).rejects.toMatchObject(
        {
          kind: 'state_unusable',
          reason,
        },
      );
      expect(await readFile(path, 'utf8')).toBe(content);
      const agent = fixture.createAgent();
      agent.applyAgentSessionHandle(handle);
      expect((await agent.inspect()).session?.state).toBe('unknown');
    }
    expect(port.requests).toHaveLength(1);
  });

  it('delivers its queue in order, also in a process that never saw the session', async () => {
    const port = createEcho();
    await using fixture = await createApiFixture(port);
    const named = { agentId: 'reviewer' };
    const first = fixture.createAgent(named);
    await first.askWithHistory([user('one')]);
    await first.detach();
    const later = fixture.createAgent(named);
    await later.enqueue('two');
    await later.enqueue([{ type: 'text', text: 'three' }, PNG]);
    await later.drain();
    expect(port.conversations().at(-1)).toEqual([
      'user: one',
      'assistant: re user: one',
      'user: two',
      'assistant: re user: two',
      'user: three[image]',
    ]);
  });

  it('is inspected, closed, continued, and refused once it was archived', async () => {
    const port = createEcho();
    await using fixture = await createApiFixture(port);
    const agent = fixture.createAgent();
    const { handle } = await agent.askWithHistory([user('one')]);
    expect((await agent.inspect()).session).toMatchObject({ state: 'present', process: 'gone' });
    await agent.close();
    expect(agent.currentAgentSessionHandle()?.provider.status).toBe('closed');
    const reopened = await fixture.createAgent().continueAgentSession(handle, 'two');
    expect(reopened.handle.provider.status).toBe('idle');
    const last = fixture.createAgent();
    last.applyAgentSessionHandle(handle);
    expect(await last.close({ archive: true })).toMatchObject({ archived: true });
    await expect(last.continueAgentSession(handle, 'three')).rejects.toMatchObject({
      kind: 'non_continuable',
      missing: 'history',
    });
    await rm(join(fixture.stateDir, 'api'), { recursive: true });
    await mkdir(join(fixture.stateDir, 'api'));
    expect((await last.inspect()).session?.state).toBe('absent');
    expect(port.requests).toHaveLength(2);
  });
});

function awaitedHandle(agent: { currentAgentSessionHandle(): unknown }) {
  return agent.currentAgentSessionHandle() as never;
}
