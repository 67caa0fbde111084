import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RecordEvent } from '../../spec/record-event.js';
import { createRolloutReader } from './record.js';

describe('a rollout', () => {
  it('tells message, answer and usage of each turn', () => {
    const events = readFixture('0.171.0.two-turns.jsonl');

    expect(events.map(({ type }) => type)).toEqual([
      'session_opened',
      ...['message_accepted', 'text', 'turn_ended'],
      ...['message_accepted', 'text', 'turn_ended'],
    ]);
    expect(events[1]).toMatchObject({
      text: 'codeword is PEAR',
      clientMessageId: '11111111-1111-4111-8111-111111111111',
      origin: 'user',
    });
    expect(events[6]).toMatchObject({
      answer: 'The codeword is PEAR.',
      usage: { inputTokens: 10, outputTokens: 5 },
      nativeTurnId: events[4]?.type === 'message_accepted' ? events[4].nativeTurnId : 'none',
    });
  });

  it('shows a killed turn as one without an end, and an interrupted one with it', () => {
    const events = readFixture('0.171.0.killed-and-interrupted.jsonl');

    const ends = events.flatMap((event) =>
      event.type === 'turn_ended' || event.type === 'turn_interrupted' ? event.nativeTurnId : [],
    );
    const unended = events.filter(
      (event) => event.type === 'message_accepted' && !ends.includes(event.nativeTurnId),
    );

    expect(unended).toHaveLength(1);
    expect(unended[0]).toMatchObject({ text: expect.stringContaining('long work') });
    expect(events.at(-1)).toMatchObject({ type: 'turn_interrupted' });
  });

  it('B101: gives the turn that only compacts an end of its own', () => {
    const events = readFixture('0.171.0.compacted.jsonl');

    const at = events.findIndex(({ type }) => type === 'compaction_finished');

    expect(at).toBeGreaterThan(0);
    expect(events[at + 1]).toMatchObject({ type: 'turn_ended', answer: '' });
  });

  it('names a tool call at its end as at its start', () => {
    const events = readFixture('0.171.0.declined-command.jsonl');

    expect(events.filter(({ type }) => type.startsWith('tool_'))).toEqual([
      { type: 'tool_started', name: 'exec_command', callId: 'call_1_0' },
      { type: 'tool_finished', name: 'exec_command', callId: 'call_1_0' },
    ]);
  });

  it('skips lines that are no JSON, no record, or of a kind not known', () => {
    const reader = createRolloutReader();

    for (const value of [undefined, null, 'text', [], {}, { type: 'future', payload: {} }]) {
      expect(reader.read(value)).toEqual([]);
    }
    expect(reader.lastRecordId()).toBeUndefined();
  });

  it.each([
    ['context_window_exceeded', 'context_too_long'],
    ['usage_limit_exceeded', 'rate_limited'],
    ['unauthorized', 'auth_required'],
    ['model_not_found', 'model_not_found'],
    ['server_overloaded', 'overloaded'],
    ['cyber_policy', 'refusal'],
    [{ http_connection_failed: { http_status_code: 401 } }, 'auth_required'],
    [{ http_connection_failed: { http_status_code: 529 } }, 'overloaded'],
    [{ response_too_many_failed_attempts: { http_status_code: 429 } }, 'rate_limited'],
    [{ response_stream_disconnected: { http_status_code: null } }, 'broken_stream'],
    ['something_new', 'unknown'],
    [undefined, 'unknown'],
  ])('reads the failure %j as %s', (codex_error_info, reason) => {
    const line = failedLine({ message: 'no luck', codex_error_info });

    expect(createRolloutReader().read(line)).toEqual([
      { type: 'turn_failed', reason, detail: 'no luck', nativeTurnId: 'turn' },
    ]);
  });

  it('knows a stream that broke on every try by its message', () => {
    const message = 'stream disconnected before completion: gone';
    const line = failedLine({ message, codex_error_info: 'other' });

    expect(createRolloutReader().read(line)).toMatchObject([{ reason: 'broken_stream' }]);
  });
});

function failedLine(error: unknown) {
  const payload = { type: 'task_complete', turn_id: 'turn', last_agent_message: null, error };
  return { type: 'event_msg', ordinal: 1, payload };
}

function readFixture(name: string): RecordEvent[] {
  const reader = createRolloutReader();
  const lines = readFileSync(new URL(`__fixtures__/${name}`, import.meta.url), 'utf8').split('\n');
  return lines.filter(Boolean).flatMap((line) => reader.read(JSON.parse(line)));
}
