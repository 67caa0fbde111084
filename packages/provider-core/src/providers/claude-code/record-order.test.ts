import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createTranscriptReader } from './record.js';

const capture = new URL(
  './__fixtures__/records/ended.closing-rows-first-2.1.197.jsonl',
  import.meta.url,
);
const rows: unknown[] = readFileSync(capture, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));

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
