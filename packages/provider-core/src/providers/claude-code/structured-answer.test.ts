import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RecordEvent } from '../../spec/record-event.js';
import { createTranscriptReader } from './record.js';
import { readFrame } from './stream-frames.js';
import { launchAsStream } from './stream-process.js';

const streams = new URL('./__fixtures__/streams/', import.meta.url);
const versions = ['2.1.197', '2.1.332'];

function readLines(version: string, kind: 'frames' | 'record'): readonly unknown[] {
  const path = new URL(`structured-answer.${version}.${kind}.jsonl`, streams);
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line): unknown => JSON.parse(line));
}

function readRecord(version: string): readonly RecordEvent[] {
  const reader = createTranscriptReader({ ends: 'unmarked' });
  return readLines(version, 'record').flatMap((row) => reader.push(row));
}

const answersOf = (events: readonly RecordEvent[]) =>
  events.flatMap((event) => (event.type === 'turn_ended' ? [event.answer] : []));

describe('an answer with a schema', () => {
  it.each(versions)('is its JSON, in the record as on the stream (%s)', (version) => {
    const framed = readLines(version, 'frames')
      .flatMap(readFrame)
      .flatMap((sign) => (sign.type === 'record' ? [sign.event] : []));
    const reminded = expect.stringMatching(/^Heard: \[structured-output-enforce\]/);

    expect(answersOf(framed)).toEqual(['{"verdict":"ok"}', '{"verdict":"fixed"}', reminded]);
    // What was said before the CLI asked again is an end only until more of the turn follows.
    expect(answersOf(readRecord(version))).toEqual([
      '{"verdict":"ok"}',
      '{"verdict":"fixed"}',
      'no structure',
      reminded,
    ]);
  });

  it.each(versions)('stands in the row that the stream names last (%s)', (version) => {
    const said = readRecord(version).flatMap((event) =>
      event.type === 'turn_ended' && event.rowId !== undefined ? [event.rowId] : [],
    );
    const closed: string[] = [];
    let last: string | undefined;
    for (const sign of readLines(version, 'frames').flatMap(readFrame)) {
      if (sign.type === 'row') last = sign.rowId;
      if (sign.type === 'turn_over' && last !== undefined) closed.push(last);
    }

    expect(said).toHaveLength(2);
    expect(said).toEqual(closed.slice(0, 2));
  });

  it.each(versions)('is told as no tool (%s)', (version) => {
    const events = readRecord(version).map(({ type }) => type);

    expect(events).toContain('message_accepted');
    expect(events).not.toContain('tool_started');
    expect(events).not.toContain('tool_finished');
  });

  it('is asked for without the name of a dialect, which a version may not know', () => {
    const outputSchema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
    };
    const { args } = launchAsStream({
      config: { workingDir: '/home/user/work', outputSchema },
      cliVersion: '2.1.332',
      cliHome: '/home/user/.claude',
      nativeSessionId: '0e1f2a3b-0000-4000-8000-000000000001',
      resume: true,
      finishInterruptedTurn: false,
      filesDir: '/home/user/state/files',
    });

    expect(args[args.indexOf('--json-schema') + 1]).toBe('{"type":"object"}');
  });
});
