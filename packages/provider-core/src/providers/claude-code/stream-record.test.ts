import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RecordEvent } from '../../spec/record-event.js';
import { createTranscriptReader } from './record.js';
import { createUsageCounter } from './stream-usage.js';

const streams = new URL('./__fixtures__/streams/', import.meta.url);
const versions = ['2.1.197', '2.1.332'];

function readRows(version: string): readonly unknown[] {
  const path = new URL(`every-outcome.${version}.record.jsonl`, streams);
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line): unknown => JSON.parse(line));
}

function read(version: string): readonly RecordEvent[] {
  const reader = createTranscriptReader({ ends: 'unmarked' });
  return readRows(version).flatMap((row) => reader.push(row));
}

const ours = (number: number) => `aaaa0000-0000-4000-8000-00000000000${number}`;

function tell(event: RecordEvent): readonly string[] {
  switch (event.type) {
    case 'message_accepted':
      return [`accepted ${event.origin} ${event.clientMessageId?.slice(0, 4)}`];
    case 'turn_ended':
      return [`ended ${event.answer}${event.origin === 'background' ? ' (background)' : ''}`];
    case 'turn_failed':
      return [`failed ${event.reason}`];
    case 'turn_interrupted':
    case 'branch_abandoned':
      return [event.type];
    default:
      return [];
  }
}

describe('the record of a CLI without a terminal', () => {
  it.each(versions)('names each message by its row and ends each turn, in %s', (version) => {
    const events = read(version);
    const said = events.flatMap(tell).map((line) => line.replace(/user (?!aaaa|bbbb)\w+/, 'other'));
    expect(said).toEqual([
      'accepted user aaaa',
      'ended Heard: hello (message 1)',
      'accepted user aaaa',
      'accepted user bbbb',
      'ended done',
      'accepted user aaaa',
      'ended slow answer',
      'accepted user bbbb',
      expect.stringMatching(/^ended Heard: after it/),
      'accepted user aaaa',
      'turn_interrupted',
      'accepted user aaaa',
      'failed overloaded',
      'accepted user aaaa',
      'ended started',
      expect.stringMatching(/^accepted background/),
      'ended Noted. (background)',
      'accepted user aaaa',
      expect.stringMatching(/^ended /),
      'accepted user aaaa',
      expect.stringMatching(/^ended Heard: last/),
    ]);
  });

  it.each(versions)(
    'tells a text that a turn took in from one with a turn of its own, in %s',
    (version) => {
      const accepted = read(version).flatMap((event) =>
        event.type === 'message_accepted' && event.clientMessageId?.startsWith('bbbb')
          ? [event]
          : [],
      );
      expect(accepted.map(({ text, nativeTurnId }) => [text, nativeTurnId !== undefined])).toEqual([
        ['steered', false],
        ['after it', true],
      ]);
    },
  );

  it.each(versions)('takes in a message of an image alone, in %s', (version) => {
    const message = read(version).find(
      (event) => event.type === 'message_accepted' && event.clientMessageId === ours(7),
    );
    expect(message).toMatchObject({ text: '', origin: 'user' });
  });

  it.each(versions)('adds up every message of the model once, in %s', (version) => {
    const counter = createUsageCounter();
    expect(counter.total()).toBeUndefined();
    const rows = readRows(version);
    for (const row of [...rows, ...rows]) counter.push(row);
    const perTurn = read(version).flatMap((event) =>
      event.type === 'turn_ended' ? [event.usage?.inputTokens ?? 0] : [],
    );
    expect(counter.total()?.inputTokens).toBe(perTurn.reduce((sum, tokens) => sum + tokens, 0));
  });
});

describe('an end that the record does not mark', () => {
  const row = (uuid: string, parentUuid: string | null, message: object, more = {}) => ({
    type: 'assistant',
    uuid,
    parentUuid,
    message: { id: uuid, ...message },
    ...more,
  });
  const text = (words: string) => [{ type: 'text', text: words }];
  const start = { type: 'user', uuid: 'm', parentUuid: null, message: { content: 'go' } };

  it('is none while the model calls a tool or was cut short', () => {
    const reader = createTranscriptReader({ ends: 'unmarked' });
    const rows = [
      start,
      row('b', 'm', { content: text('let me see'), stop_reason: 'tool_use' }),
      row('c', 'b', { content: text('cut'), stop_reason: 'max_tokens' }),
      row('d', 'c', { content: text('partly'), stop_reason: null }),
    ];
    const types = rows.flatMap((each) => reader.push(each)).map(({ type }) => type);
    expect(types).not.toContain('turn_ended');
  });

  it('is there without a word too', () => {
    const reader = createTranscriptReader({ ends: 'unmarked' });
    const rows = [start, row('a', 'm', { content: text(''), stop_reason: 'end_turn' })];
    expect(
      rows
        .flatMap((each) => reader.push(each))
        .flatMap(tell)
        .at(-1),
    ).toBe('ended ');
  });

  it('is told anew when a hook makes the turn go on', () => {
    const reader = createTranscriptReader({ ends: 'unmarked' });
    const rows = [
      start,
      row('a', 'm', { content: text('first'), stop_reason: 'end_turn' }),
      { type: 'user', uuid: 'b', parentUuid: 'a', isMeta: true, message: { content: 'go on' } },
      row('c', 'b', { content: text('second'), stop_reason: 'end_turn' }),
    ];
    const events = rows.flatMap((each) => reader.push(each)).flatMap(tell);
    expect(events).toEqual(['accepted user m', 'ended first', 'ended second']);
  });
});
