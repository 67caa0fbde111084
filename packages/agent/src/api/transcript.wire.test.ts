import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { lineOf } from './__fixtures__/scripted-port.js';
import { buildMessages } from './build-messages.js';
import { decodeTranscriptRecord, encodeTranscriptRecord } from './transcript.wire.js';
import { TranscriptState } from './transcript-state.js';

const lines = readFileSync(new URL('./__fixtures__/v1/transcript.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
const decode = (value: unknown) => decodeTranscriptRecord(value, 'transcript.jsonl');

describe('the golden transcript of version 1', () => {
  it('holds every kind of line', () => {
    expect(new Set(lines.map(({ type }) => type)).size).toBe(12);
  });

  it('loads, and each line is written back as it was, unknown keys included', () => {
    expect(lines.map(decode).map(encodeTranscriptRecord)).toEqual(lines);
    const newer = { ...lines[1], later_key: { deep_key: 1 } };
    expect(encodeTranscriptRecord(decode(newer))).toEqual(newer);
  });

  it('says what it always said', () => {
    const state = new TranscriptState();
    for (const line of lines) state.apply(decode(line));
    expect(buildMessages(state).map(lineOf)).toEqual([
      'user: before',
      'assistant: earlier',
      'user: one[image]',
      'assistant: Looking. [opaque]<mcp__a__look><mcp__a__write>',
      'tool: ',
      'tool!: Denied: not today',
      'assistant: done',
      'user: two',
      'assistant: <mcp__a__write>',
      'tool!: Interrupted: this tool call was made, but its result was lost. It may have taken effect. It was not made again; check before you repeat it.',
    ]);
    expect(state.usage).toEqual({ inputTokens: 40, outputTokens: 7, cacheReadTokens: 5 });
    expect([...state.turns].map(({ outcome, parked }) => outcome?.status ?? parked?.kind)).toEqual([
      'completed',
      'interrupted',
      'rate_limited',
    ]);
    expect(state.archived).toBe(true);
  });
});

describe('a line', () => {
  it('keeps a blank output, a null input and the spelling inside what is not ours', () => {
    const line = {
      type: 'step_finished',
      turn_id: 't',
      step: 1,
      stop_reason: '',
      content: [
        { type: 'text', text: '' },
        { type: 'tool_call', call_id: 'c', tool_name: 'n', input: null },
        { type: 'tool_call', call_id: 'd', tool_name: 'n', input: { call_id: 1, toolName: 2 } },
        { type: 'opaque', vendor: 'v', value: { media_type: 1, mediaType: 2 } },
      ],
      at: '2026-01-01T00:00:00.000Z',
    };
    expect(decode(line)).toMatchObject({
      content: [{}, { callId: 'c', input: null }, { input: { call_id: 1, toolName: 2 } }, {}],
    });
    expect(encodeTranscriptRecord(decode(line))).toEqual(line);
  });

  it.each([
    ['of a newer version', { ...lines[0], schema_version: 2 }, 'newer_format'],
    ['of a kind nobody knows here', { type: 'later', at: 'x' }, 'newer_format'],
    ['that lacks a key', { ...lines[1], turn_id: undefined }, 'damaged'],
    ['that is a list', [], 'damaged'],
  ])('%s is refused', (_what, line, reason) => {
    expect(() => decode(line)).toThrow(expect.objectContaining({ kind: 'state_unusable', reason }));
  });
});
