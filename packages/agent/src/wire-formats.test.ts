import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decodeAgentSessionHandle, encodeAgentSessionHandle } from './agent-session-handle.wire.js';
import { foldHistory } from './history/session-history.js';
import { decodeHistoryLine, encodeHistoryLine } from './history/session-history.wire.js';
import { decodeQueueState, encodeQueueState } from './queue/queued-message.wire.js';
import type { AgentTurnEvent } from './turn/agent-turn.js';
import { decodeAgentTurnEvent, encodeAgentTurnEvent } from './turn/agent-turn-event.wire.js';

const fixture = (name: string) =>
  readFileSync(new URL(`./__fixtures__/v1/${name}`, import.meta.url), 'utf8');

describe('the agent session handle', () => {
  const json = JSON.parse(fixture('agent-session-handle.json'));

  it('survives a round trip with unknown keys and an unknown status', () => {
    expect(encodeAgentSessionHandle(decodeAgentSessionHandle(json))).toEqual(json);
  });

  it('is read from JSON text and from its in-memory form', () => {
    const handle = decodeAgentSessionHandle(JSON.stringify(json));
    expect(handle).toMatchObject({ agentId: 'reviewer', provider: { revision: 4 } });
    expect(decodeAgentSessionHandle(handle)).toEqual(handle);
  });

  it('has every field filled even when a legacy writer left fields out', () => {
    const { provider } = json;
    expect(decodeAgentSessionHandle({ session_id: 's-1', agent_id: ' ', provider })).toMatchObject({
      agentId: 's-1',
      sessionId: 's-1',
      ownerId: 's-1',
      scope: 'chat',
      correlationId: 's-1',
    });
  });

  it.each([
    ['nothing', undefined],
    ['text that is no JSON', '{'],
    ['an object without a provider', { session_id: 's' }],
    ['a list', []],
  ])('is non_continuable when it is %s', (_what, value) => {
    expect(() => decodeAgentSessionHandle(value)).toThrow(
      expect.objectContaining({ kind: 'non_continuable', missing: 'provider' }),
    );
  });

  it('names an unknown transport', () => {
    const provider = { ...json.provider, transport: 'carrier pigeon' };
    expect(() => decodeAgentSessionHandle({ ...json, provider })).toThrow(
      expect.objectContaining({ kind: 'non_continuable', missing: 'transport' }),
    );
  });
});

describe('golden files of version 1', () => {
  it('loads the queue, and writes it back as it was', () => {
    const json = JSON.parse(fixture('queue.json'));
    const state = decodeQueueState(json, 'queue.json');
    expect(state.messages.map(({ message }) => message)).toEqual([
      'first',
      [{ type: 'text', text: 'second' }],
    ]);
    expect(encodeQueueState(state)).toEqual(json);
  });

  it('loads the history, and writes each line back as it was', () => {
    const lines = fixture('history.jsonl')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const read = lines.map((line) => decodeHistoryLine(line, 'history.jsonl'));
    expect(read.map(encodeHistoryLine)).toEqual(lines);
    expect(foldHistory(read).map(({ digest, state }) => [digest, state])).toEqual([
      ['aa', 'settled'],
      ['bb', 'settled'],
      ['cc', 'settled'],
      ['dd', 'settled'],
      ['ee', 'accepted'],
    ]);
  });

  it('refuses what a newer version wrote', () => {
    const newer = { schema_version: 2, messages: [] };
    expect(() => decodeQueueState(newer, 'q')).toThrow(
      expect.objectContaining({ kind: 'state_unusable', reason: 'newer_format' }),
    );
    expect(() => decodeHistoryLine({ schema_version: 2, type: 'sent' }, 'h')).toThrow(
      expect.objectContaining({ reason: 'newer_format' }),
    );
  });
});

describe('turn events', () => {
  const stamp = { turnId: 't', sequence: 3, at: '2026-01-02T03:04:05.000Z' };
  it.each<AgentTurnEvent>([
    { type: 'running', ...stamp },
    { type: 'lost_tmux', tmuxSession: 'holdfast-1', ...stamp },
    { type: 'terminal_opened', terminalId: '%1', label: 'pane', ...stamp },
    { type: 'usage', usage: { inputTokens: 1, outputTokens: 2 }, ...stamp },
    { type: 'answer', text: 'a', final: false, ...stamp },
    { type: 'stale_handle', changedField: 'model', ...stamp },
  ])('survive a round trip: $type', (event) => {
    const json = encodeAgentTurnEvent(event);
    expect(JSON.stringify(json)).not.toMatch(/[a-z][A-Z]\w*":/);
    expect(decodeAgentTurnEvent(JSON.parse(JSON.stringify(json)))).toEqual(event);
  });
});
