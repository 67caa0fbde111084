import type { HostRequest } from '@holdfast/provider-core';
import { describe, expect, it } from 'vitest';
import type { ApiAgentOptions } from '../agent-options.js';
import { collect, createApiFixture } from './__fixtures__/api-fixture.js';
import { cutOff } from './__fixtures__/cut-off.js';
import { MemoryTools } from './__fixtures__/memory-tools.js';
import { call, lastLine, ScriptedPort, say } from './__fixtures__/scripted-port.js';

const TURN = '11111111-1111-4111-8111-111111111111';
const ONE = [{ role: 'user', content: 'one' }] as const;

async function setUp(options: Partial<ApiAgentOptions>, name = 'write') {
  const port = new ScriptedPort((request) =>
    lastLine(request).startsWith('tool') ? say(lastLine(request)) : call(name, { path: 'a' }),
  );
  const toolBox = new MemoryTools({ write: {}, look: { isReadOnly: true } });
  const fixture = await createApiFixture(port, toolBox, options);
  return { ...fixture, port, toolBox, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

describe('the tool policy', () => {
  it.each([
    ['read_only', 'look', ['look']],
    ['read_only', 'write', []],
    ['edit', 'write', ['write']],
    ['full', 'write', ['write']],
    ['ask', 'write', []],
  ] as const)('%s, nobody to ask: of %s it makes %j', async (permissions, name, made) => {
    await using fixture = await setUp({ toolPolicy: { permissions } }, name);
    const { answer } = await fixture.createAgent().askWithHistory(ONE);
    expect(fixture.toolBox.called.map((one) => one.name)).toEqual(made);
    if (made.length === 0) expect(answer).toMatch(/^tool!: Denied/);
  });
});

describe('an approval', () => {
  it('is the host that decides; it sees the call and may change its input', async () => {
    const asked: HostRequest[] = [];
    await using fixture = await setUp({
      onApproval: (request) => {
        asked.push(request);
        return { decision: 'allow', updatedInput: { path: 'b' } };
      },
    });
    const { events } = await collect(fixture.createAgent().askWithHistory(ONE));
    expect(asked).toMatchObject([{ type: 'approval', toolName: 'write', input: { path: 'a' } }]);
    expect(fixture.toolBox.called).toEqual([{ name: 'write', input: { path: 'b' } }]);
    const requestId = asked[0]?.requestId;
    expect(events.filter(({ type }) => type.startsWith('approval'))).toMatchObject([
      { type: 'approval_requested', requestId, toolName: 'write' },
      { type: 'approval_settled', requestId, decision: 'allow', by: 'host' },
    ]);
  });

  it.each([
    [
      'the host denies',
      () => ({ decision: 'deny', message: 'not today' }) as const,
      'host',
      /not today/,
    ],
    ['nobody answers in time', () => new Promise<never>(() => {}), 'deadline', /in time/],
    ['the handler fails', () => Promise.reject(new TypeError('x')), 'host', /could not be decided/],
  ])('is a denial when %s, and the model is told', async (_what, onApproval, by, told) => {
    await using fixture = await setUp({ onApproval, limits: { approvalMs: 30 } });
    const turn = fixture.createAgent().askWithHistory(ONE);
    const { events } = await collect(turn);
    expect((await turn).answer).toMatch(told);
    expect(fixture.toolBox.called).toEqual([]);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'approval_settled', decision: 'deny', by }),
    );
  });

  it('is asked again after a restart under its own id, and the call is then made once', async () => {
    const asked: string[] = [];
    let wasAsked = () => {};
    const pending = new Promise<void>((resolve) => {
      wasAsked = resolve;
    });
    await using fixture = await setUp({});
    const first = fixture.createAgent().askWithHistory(ONE, {
      turnId: TURN,
      onApproval: (request) => {
        asked.push(request.requestId);
        wasAsked();
        return new Promise(() => {});
      },
    });
    await pending;
    const handle = await first.handle;
    // What a killed service leaves: its lease has no owner any more, its transcript ends where it stood.
    const copy = await cutOff(fixture.stateDir, handle.sessionId);
    const later = fixture.createAgent({ stateDir: copy });
    const result = await later.continueAgentSession(handle, 'one', {
      turnId: TURN,
      onApproval: (request) => {
        asked.push(request.requestId);
        return { decision: 'allow' };
      },
    });
    expect(result.answer).toBe('tool: write done');
    expect(asked).toHaveLength(2);
    expect(new Set(asked).size).toBe(1);
    expect(fixture.toolBox.called).toHaveLength(1);
    await first.interrupt();
    await expect(first).rejects.toMatchObject({ kind: 'turn_interrupted', isFinal: true });
  });
});
