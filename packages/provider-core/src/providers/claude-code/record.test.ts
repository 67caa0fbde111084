import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RecordEvent } from '../../spec/record-event.js';
import { createTranscriptReader, holdsConversation } from './record.js';

const records = new URL('./__fixtures__/records/', import.meta.url);

function read(file: string): readonly RecordEvent[] {
  const reader = createTranscriptReader();
  const lines = readFileSync(new URL(file, records), 'utf8').trimEnd().split('\n');
  return lines.flatMap((line) => reader.push(JSON.parse(line)));
}

const names = (prefix: string) => readdirSync(records).filter((file) => file.startsWith(prefix));
const outcomes = (events: readonly RecordEvent[]) =>
  events.flatMap((event) => {
    if (event.type === 'turn_failed') return [event.reason];
    return /^turn_|abandoned|blocked/.test(event.type) ? [event.type] : [];
  });

describe('createTranscriptReader', () => {
  it.each([
    '[Request interrupted by user]',
    '<command-name>/clear</command-name>',
    '<task-notification>done</task-notification>',
  ])(
    'takes what somebody said for a message, even where it looks like the CLI itself (%s)',
    (text) => {
      const row = {
        type: 'user',
        uuid: 'u',
        parentUuid: null,
        message: { role: 'user', content: text },
      };
      const said = createTranscriptReader().push({ ...row, promptSource: 'typed' });
      expect(said).toMatchObject([{ type: 'message_accepted', text, origin: 'user' }]);
      const own = createTranscriptReader().push(row);
      expect(own).not.toContainEqual(expect.objectContaining({ origin: 'user' }));
    },
  );

  it.each(names('every-outcome'))('tells how each turn of %s ended', (file) => {
    expect(outcomes(read(file))).toEqual([
      'auth_required',
      'rate_limited',
      'overloaded',
      'model_not_found',
      'context_too_long',
      'broken_stream',
      'broken_stream',
      'history_rejected',
      'turn_ended',
      'turn_interrupted',
      'branch_abandoned',
      'turn_ended',
      'turn_ended',
    ]);
  });

  it.each(names('every-outcome'))(
    'tells each message of %s once, and none of the CLI itself',
    (file) => {
      const messages = read(file).flatMap((event) =>
        event.type === 'message_accepted' ? [event.text] : [],
      );
      expect(messages.slice(-5).map((text) => text.slice(0, 20))).toEqual([
        'absorbed text',
        '[[{"text":"abcdefghi',
        '[[{"text":"abc","del',
        'after the orphan',
        'after compaction',
      ]);
      expect(messages).toHaveLength(14);
    },
  );

  it.each(names('ended'))('gives the answer of %s after its message', (file) => {
    const events = read(file);
    const ended = events.filter((event) => event.type === 'turn_ended');
    const accepted = events.filter((event) => event.type === 'message_accepted');
    expect(ended).toHaveLength(accepted.length);
    expect(ended.every((event) => event.type === 'turn_ended' && event.answer !== '')).toBe(true);
    expect(events.at(0)?.type).toBe('message_accepted');
    expect(events.at(-1)?.type).toBe('turn_ended');
  });

  it.each(names('ended.taken-up'))(
    'takes a message that %s shows twice on one parent for one',
    (file) => {
      const messages = read(file).filter((event) => event.type === 'message_accepted');
      expect(messages).toHaveLength(2);
    },
  );

  it.each(names('interrupted'))('tells the interrupt in %s', (file) => {
    expect(outcomes(read(file))).toEqual(['turn_ended', 'turn_interrupted']);
  });

  it.each(names('blocked'))('tells the text that a hook blocked in %s', (file) => {
    expect(read(file)).toContainEqual({
      type: 'message_blocked',
      reason: 'no way',
      text: 'please blockme\nsecond line',
    });
  });

  it('counts the usage of a message once, though each of its blocks repeats it', () => {
    const reader = createTranscriptReader();
    const usage = { input_tokens: 7, output_tokens: 3 };
    const block = (uuid: string, parentUuid: string, content: object) =>
      reader.push({
        type: 'assistant',
        uuid,
        parentUuid,
        message: { id: 'm', usage, content: [content] },
      });
    reader.push({ type: 'user', uuid: 'u', parentUuid: null, message: { content: 'hello' } });
    block('a1', 'u', { type: 'text', text: 'one' });
    block('a2', 'a1', { type: 'text', text: 'two' });
    const end = { type: 'system', subtype: 'turn_duration', uuid: 'e', parentUuid: 'a2' };
    expect(reader.push(end)).toMatchObject([
      { type: 'turn_ended', answer: 'one\n\ntwo', usage: { inputTokens: 7, outputTokens: 3 } },
    ]);
  });

  it('B88: tells a turn nobody asked for as background', () => {
    const reader = createTranscriptReader();
    const row = {
      type: 'user',
      uuid: 'u',
      parentUuid: null,
      origin: { kind: 'task-notification' },
      message: { content: '<task-notification>done' },
    };
    expect(reader.push(row)).toMatchObject([{ type: 'message_accepted', origin: 'background' }]);
  });

  it('says nothing of a row that is no JSON, or of a subagent', () => {
    const reader = createTranscriptReader();
    expect(reader.push(undefined)).toEqual([]);
    const row = { type: 'user', uuid: 'u', parentUuid: null, isSidechain: true };
    expect(reader.push({ ...row, message: { content: 'hello' } })).toEqual([]);
  });
});

describe('holdsConversation', () => {
  it('knows a transcript that holds no message yet', () => {
    expect(holdsConversation('{"type":"mode","mode":"normal"}\n')).toBe(false);
    expect(holdsConversation('{"type":"user","message":{}}\n')).toBe(true);
  });
});
