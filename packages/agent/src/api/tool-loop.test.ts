import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  AuthRequiredError,
  HistoryRejectedError,
  ProviderFailedError,
  waitUntil,
} from '@holdfast/provider-core';
import { describe, expect, it } from 'vitest';
import type { ApiAgentOptions } from '../agent-options.js';
import { collect, createApiFixture } from './__fixtures__/api-fixture.js';
import { type MemoryTool, MemoryTools } from './__fixtures__/memory-tools.js';
import {
  call,
  lastLine,
  ScriptedPort,
  type ScriptedStep,
  say,
} from './__fixtures__/scripted-port.js';

const TURN = '11111111-1111-4111-8111-111111111111';
const FULL = { toolPolicy: { permissions: 'full' } } as const;
const ONE = [{ role: 'user', content: 'one' }] as const;

/** Calls the tool once, then answers with what it gave. */
const once =
  (name: string, input: unknown = {}): ScriptedStep =>
  (request) =>
    lastLine(request).startsWith('tool') ? say(`got ${lastLine(request)}`) : call(name, input);

async function setUp(
  step: ScriptedStep,
  tools: Readonly<Record<string, MemoryTool>> = { write: {} },
  options: Partial<ApiAgentOptions> = FULL,
) {
  const port = new ScriptedPort(step);
  const toolBox = new MemoryTools(tools);
  const fixture = await createApiFixture(port, toolBox, options);
  return { ...fixture, port, toolBox, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

describe('the tool loop', () => {
  it('B36: refuses a message with half a character before it is on record, and the session goes on', async () => {
    await using fixture = await setUp(() => say('fine'));
    const agent = fixture.createAgent();
    const { handle } = await agent.askWithHistory(ONE);
    await expect(agent.continueAgentSession(handle, 'half \ud83e')).rejects.toMatchObject({
      kind: 'undeliverable_message',
      reason: 'ill_formed_text',
    });
    expect((await agent.continueAgentSession(handle, 'two')).answer).toBe('fine');
    expect(JSON.stringify(fixture.port.requests.at(-1)?.messages)).not.toContain('half');
  });

  it('makes the calls the model asks for, one at a time, and gives it their results', async () => {
    const order: string[] = [];
    const tool = (name: string): MemoryTool => ({
      run: async () => {
        order.push(`${name} begins`);
        await Promise.resolve();
        order.push(`${name} ends`);
        return name;
      },
    });
    const both: ScriptedStep = (request) =>
      lastLine(request).startsWith('tool')
        ? say('done')
        : {
            content: [
              { type: 'text', text: 'First both. ' },
              { type: 'opaque', vendor: 'v', value: { signature: 's' } },
              ...call('a', { x: '' }).content,
              ...call('b').content,
            ],
            stopReason: 'tool_calls',
          };
    await using fixture = await setUp(both, { a: tool('a'), b: tool('b') });
    const turn = fixture.createAgent().askWithHistory(ONE);
    const { events } = await collect(turn);
    expect((await turn).answer).toBe('done');
    expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
    expect(fixture.toolBox.called[0]).toEqual({ name: 'a', input: { x: '' } });
    expect(fixture.port.requests[1]?.messages.slice(1)).toEqual([
      { role: 'assistant', content: (await both(requestOf([]))).content },
      { role: 'tool', callId: 'id-a', toolName: 'a', output: 'a', isError: false },
      { role: 'tool', callId: 'id-b', toolName: 'b', output: 'b', isError: false },
    ]);
    expect(events.map(({ type }) => type)).toEqual([
      'running',
      'text_delta',
      'usage',
      'answer',
      'tool_started',
      'tool_finished',
      'tool_started',
      'tool_finished',
      'text_delta',
      'usage',
      'answer',
      'completed',
    ]);
    expect((await turn).usage).toEqual({ inputTokens: 20, outputTokens: 2 });
  });

  it('tells calls apart that the model gave one id, and makes each of them', async () => {
    const twice: ScriptedStep = (request) =>
      lastLine(request).startsWith('tool')
        ? say('done')
        : { content: [...call('write', 1, 'x').content, ...call('write', 2, 'x').content] };
    await using fixture = await setUp(twice);
    await fixture.createAgent().askWithHistory(ONE);
    expect(fixture.toolBox.called.map(({ input }) => input)).toEqual([1, 2]);
  });

  it('makes a failed tool and an unknown one a result the model sees', async () => {
    const fails = { write: { run: () => Promise.reject(new TypeError('no paper')) } };
    await using fixture = await setUp(once('write'), fails);
    const failed = await fixture.createAgent().askWithHistory(ONE);
    expect(failed.answer).toBe('got tool!: TypeError: no paper');
    await using other = await setUp(once('imagined'));
    const unknown = await other.createAgent().askWithHistory(ONE);
    expect(unknown.answer).toBe('got tool!: There is no tool imagined.');
  });

  it.each([
    ['a refusal', say('I will not', 'refusal'), { reason: 'refusal' }],
    ['an empty text', say(' \n'), { reason: 'unknown' }],
    ['nothing', say('', 'max_tokens'), { reason: 'unknown' }],
    ['a call cut short', { ...call('write'), stopReason: 'max_tokens' }, { reason: 'unknown' }],
  ])(
    'never takes %s for an answer, and asks again with the same turn id',
    async (_what, bad, expected) => {
      let isBad = true;
      await using fixture = await setUp(() => (isBad ? bad : say('better')));
      const turn = fixture.createAgent().askWithHistory(ONE, { turnId: TURN });
      await expect(turn).rejects.toMatchObject({ kind: 'provider_failed', ...expected });
      isBad = false;
      const handle = await turn.handle;
      const again = fixture.createAgent().continueAgentSession(handle, 'one', { turnId: TURN });
      expect(await again).toMatchObject({ answer: 'better', usage: { inputTokens: 20 } });
      expect(fixture.port.conversations()).toEqual([['user: one'], ['user: one']]);
      expect(fixture.toolBox.called).toEqual([]);
    },
  );

  it.each([
    new ProviderFailedError('context_too_long', 'too many tokens'),
    new ProviderFailedError('overloaded', 'later'),
    new AuthRequiredError('no such key'),
    new HistoryRejectedError('message 3'),
    new TypeError('a defect'),
  ])('passes on what the model failed with: $kind $reason', async (thrown) => {
    await using fixture = await setUp(() => Promise.reject(thrown));
    const turn = fixture.createAgent().askWithHistory(ONE);
    await expect(turn).rejects.toBe(thrown);
  });

  it('mends half a character in what a tool gave', async () => {
    const tools = { write: { run: () => 'a \ud83d b' } };
    await using fixture = await setUp(once('write'), tools);
    await fixture.createAgent().askWithHistory(ONE);
    expect(lastLine(fixture.port.requests[1] ?? requestOf([]))).toBe('tool: a \ufffd b');
  });

  it('ends the wait for a tool that never ends, and tells the model', async () => {
    const limits = { inactivityMs: 30, interruptMs: 30 };
    const tools = { write: { run: () => new Promise<never>(() => {}) } };
    await using fixture = await setUp(once('write'), tools, { ...FULL, limits });
    const { answer } = await fixture.createAgent().askWithHistory(ONE);
    expect(answer).toMatch(/^got tool!: The tool gave no result in time/);
  });

  it('stops a model that never stops asking for tools', async () => {
    await using fixture = await setUp(() => call('write'), { write: {} }, { ...FULL, maxSteps: 3 });
    const turn = fixture.createAgent().askWithHistory(ONE);
    await expect(turn).rejects.toMatchObject({ kind: 'provider_failed', turnId: turn.turnId });
    expect(fixture.toolBox.called).toHaveLength(3);
  });

  it('ends a silent model by the inactivity limit', async () => {
    const limits = { inactivityMs: 30 };
    await using fixture = await setUp(() => new Promise(() => {}), {}, { limits });
    const turn = fixture.createAgent().askWithHistory(ONE);
    await expect(turn).rejects.toMatchObject({ kind: 'timed_out', layer: 'agent', limitMs: 30 });
  });
});

describe('an interrupt', () => {
  it('settles a turn whose model streams; its partial text is no answer and the next turn is sound', async () => {
    let started = () => {};
    const streaming = new Promise<void>((resolve) => {
      started = resolve;
    });
    await using fixture = await setUp((request) => {
      if (lastLine(request) !== 'user: one') return say('fine');
      started();
      return new Promise(() => {});
    });
    const agent = fixture.createAgent();
    const turn = agent.askWithHistory(ONE, { turnId: TURN });
    await streaming;
    await turn.interrupt();
    const interrupted = {
      kind: 'turn_interrupted',
      accepted: true,
      inHistory: true,
      isFinal: true,
    };
    await expect(turn).rejects.toMatchObject(interrupted);
    const handle = await turn.handle;
    const replayed = fixture.createAgent().continueAgentSession(handle, 'one', { turnId: TURN });
    await expect(replayed).rejects.toMatchObject(interrupted);
    const next = await fixture.createAgent().continueAgentSession(handle, 'two');
    expect(next.answer).toBe('fine');
    expect(fixture.port.conversations().at(-1)).toEqual(['user: one', 'user: two']);
  });

  it('cancels the tool call that runs, and the next turn gives every call a result', async () => {
    let wasCancelled = false;
    const hang: MemoryTool = {
      run: (_input, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            wasCancelled = true;
            reject(signal.reason);
          });
        }),
    };
    const step: ScriptedStep = (request) => {
      if (lastLine(request) === 'user: two') return say('fine');
      return { content: [...call('hang').content, ...call('write').content] };
    };
    await using fixture = await setUp(step, { hang, write: {} });
    const abort = new AbortController();
    const agent = fixture.createAgent();
    const turn = agent.askWithHistory(ONE, { signal: abort.signal });
    await waitUntil(() => fixture.toolBox.called.length === 1, {
      awaiting: 'the tool call',
      deadlineMs: 10_000,
    });
    abort.abort();
    await expect(turn).rejects.toMatchObject({ kind: 'turn_interrupted', isFinal: true });
    expect(wasCancelled).toBe(true);
    await agent.continueAgentSession(await turn.handle, 'two');
    const [, , hung, unmade] = fixture.port.conversations().at(-1) ?? [];
    expect(hung).toMatch(/^tool!: Interrupted: this tool call was made, but its result was lost/);
    expect(unmade).toMatch(/^tool!: Interrupted: this tool call was not made/);
    expect(fixture.toolBox.called).toHaveLength(1);
  });
});

describe('before the message is taken in', () => {
  it('the caller is told, and what it throws leaves the turn unsent', async () => {
    await using fixture = await setUp(() => say('fine'));
    const agent = fixture.createAgent();
    const { handle } = await agent.askWithHistory(ONE);
    const refuse = (change: unknown) => {
      throw new TypeError(JSON.stringify(change));
    };
    const options = { turnId: TURN, onBeforeNativeChange: refuse };
    await expect(agent.continueAgentSession(handle, 'two', options)).rejects.toThrow(
      handle.sessionId,
    );
    expect((await agent.inspect()).session).not.toHaveProperty('openTurnId');
    await agent.continueAgentSession(handle, 'two', { turnId: TURN });
    expect(fixture.port.conversations().at(-1)?.at(-1)).toBe('user: two');
  });

  it('an interrupt keeps it out of the conversation for good', async () => {
    await using fixture = await setUp(() => say('fine'));
    const agent = fixture.createAgent();
    const { handle } = await agent.askWithHistory(ONE);
    const abort = new AbortController();
    const options = {
      turnId: TURN,
      signal: abort.signal,
      onBeforeNativeChange: () => abort.abort(),
    };
    const interrupted = { kind: 'turn_interrupted', accepted: false, isFinal: true };
    await expect(agent.continueAgentSession(handle, 'two', options)).rejects.toMatchObject(
      interrupted,
    );
    const later = fixture.createAgent();
    await expect(later.continueAgentSession(handle, 'two', { turnId: TURN })).rejects.toMatchObject(
      interrupted,
    );
    await later.continueAgentSession(handle, 'three');
    expect(fixture.port.conversations().at(-1)).toEqual([
      'user: one',
      'assistant: fine',
      'user: three',
    ]);
  });
});

describe('one writer', () => {
  it('writes and calls nothing more once another took the lease', async () => {
    const stateDir = { path: '' };
    await using fixture = await setUp(async () => {
      const [session] = await readdir(join(stateDir.path, 'api'));
      const lease = join(stateDir.path, 'api', session ?? '', 'lease');
      await writeFile(join(lease, '99'), '{}');
      return call('write');
    });
    stateDir.path = fixture.stateDir;
    const turn = fixture.createAgent().askWithHistory(ONE);
    await expect(turn).rejects.toMatchObject({ kind: 'session_busy', owner: { kind: 'ours' } });
    const { sessionId } = await turn.handle;
    const path = join(fixture.stateDir, 'api', sessionId, 'transcript.jsonl');
    const lines = (await readFile(path, 'utf8')).trim().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '').type).toBe('step_started');
    expect(fixture.toolBox.called).toEqual([]);
  });

  it('is held to across agents: the second fails with session_busy, or waits', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await using fixture = await setUp(async (request) => {
      if (lastLine(request) === 'user: two') await held;
      return say('fine');
    });
    const { handle } = await fixture.createAgent().askWithHistory(ONE);
    const owner = fixture.createAgent().continueAgentSession(handle, 'two');
    await waitUntil(() => fixture.port.requests.length === 2, {
      awaiting: 'the second request',
      deadlineMs: 10_000,
    });
    const second = fixture.createAgent();
    await expect(second.continueAgentSession(handle, 'three')).rejects.toMatchObject({
      kind: 'session_busy',
      owner: { kind: 'ours', pid: process.pid },
    });
    expect((await second.inspect()).session).toMatchObject({
      process: 'alive',
      openTurnId: owner.turnId,
      owner: { kind: 'ours', pid: process.pid },
    });
    const waiting = second.continueAgentSession(handle, 'three', { whenBusy: 'wait' });
    release();
    await owner;
    await waiting;
    expect(fixture.port.conversations().at(-1)).toEqual([
      'user: one',
      'assistant: fine',
      'user: two',
      'assistant: fine',
      'user: three',
    ]);
  });
});

function requestOf(messages: []) {
  return { messages, tools: [], signal: new AbortController().signal };
}
