import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createTranscriptReader } from './record.js';

function readCapture(name: string): readonly unknown[] {
  const path = new URL(`./__fixtures__/records/${name}.jsonl`, import.meta.url);
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

const rows = readCapture('ended.closing-rows-first-2.1.197');

function read(from: readonly unknown[]) {
  const reader = createTranscriptReader();
  return from.flatMap((row) => reader.push(row));
}

describe('a transcript whose closing rows stand before its messages', () => {
  it('ends the turn after its message, with its answer', () => {
    const types = read(rows).map(({ type }) => type);
    expect(types).toEqual(['message_accepted', 'text', 'turn_ended']);
    expect(read(rows).at(-1)).toMatchObject({ type: 'turn_ended', answer: 'OK, remembered.' });
  });

  it('takes a closing row whose parent never comes for an older turn', () => {
    const closing = rows.filter((row) => JSON.stringify(row).includes('"turn_duration"'));
    expect(closing).toHaveLength(1);
    expect(read(closing)).toEqual([]);
  });
});

describe('a compaction whose turn is closed beside it', () => {
  const compacted = readCapture('ended.answer-beside-its-end-2.1.197');
  const isAssistant = (row: unknown) => JSON.stringify(row).includes('"type":"assistant"');

  it('ends the turn with the answer that comes after its closing row', () => {
    const types = read(compacted).map(({ type }) => type);
    expect(types).toEqual(['message_accepted', 'compaction_finished', 'text', 'turn_ended']);
    expect(read(compacted).at(-1)).toMatchObject({ answer: 'The codeword is heron.' });
  });

  it('ends the turn with the answer that came before its closing row', () => {
    const isClosing = (row: unknown) =>
      /"(?:stop_hook_summary|turn_duration)"/.test(JSON.stringify(row));
    const inOrder = [
      ...compacted.filter((row) => !isClosing(row)),
      ...compacted.filter((row) => isClosing(row)),
    ];
    expect(read(inOrder).at(-1)).toMatchObject({ answer: 'The codeword is heron.' });
  });

  it('says of no turn that it ended while its answer is to come', () => {
    const types = read(compacted.filter((row) => !isAssistant(row))).map(({ type }) => type);
    expect(types).toEqual(['message_accepted', 'compaction_finished']);
  });

  it('takes no word before a tool for the answer', () => {
    const withTool = compacted.map((row) =>
      isAssistant(row)
        ? JSON.parse(
            JSON.stringify(row).replace('"stop_reason":"end_turn"', '"stop_reason":"tool_use"'),
          )
        : row,
    );
    expect(read(withTool).at(-1)?.type).toBe('text');
  });
});
