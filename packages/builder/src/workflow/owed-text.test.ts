import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { ContinuationState } from './continuation-state.js';
import { decodeContinuationState, encodeContinuationState } from './continuation-state.wire.js';
import { readOwedText, readOwedWork } from './owed-work.wire.js';

const key = { iteration: 'iteration-1', group: 'main', step: 'draft' };
const golden = (name: string) =>
  readFile(new URL(`../__fixtures__/${name}.json`, import.meta.url), 'utf8');

async function written(change: Partial<ContinuationState>): Promise<string> {
  const { state } = decodeContinuationState(JSON.parse(await golden('v2/states/all-phases')), key);
  if (!state) throw new TypeError('the golden file cannot be read');
  return `${JSON.stringify(encodeContinuationState({ ...state, ...change }))}\n`;
}

describe('readOwedText', () => {
  it.each(['completed', 'failed', 'stopped'] as const)(
    'sees without parsing that one that is %s owes nothing',
    async (outcome) => {
      expect(readOwedText(await written({ outcome }))).toBe('nothing');
    },
  );

  it('never says so of one that is open, whatever its texts and its input hold', async () => {
    const quoted = '"created_at":"","outcome":"completed"}';
    const input = { created_at: '', outcome: 'completed' };
    for (const change of [{}, { answer: quoted }, { input }, { unknownKeys: { deep: input } }]) {
      expect(readOwedText(await written({ outcome: 'open', ...change }))).toBe('unclear');
    }
  });

  it('sees the end of one whose answer quotes another state', async () => {
    const answer = '"created_at":"","outcome":"open"}';
    expect(readOwedText(await written({ outcome: 'completed', answer }))).toBe('nothing');
  });

  it.each(['completed', 'failed', 'kb-pending', 'missing-keys'])(
    'leaves one of schema 1 to be parsed: %s',
    async (name) => {
      expect(readOwedText(await golden(`v1/states/${name}`))).toBe('unclear');
    },
  );

  it('leaves half a file and one of a newer schema to be parsed', async () => {
    const text = await written({ outcome: 'completed' });
    expect(readOwedText(text.slice(0, -2))).toBe('unclear');
    expect(readOwedText(text.replace('{"schema_version":2', '{"schema_version":3'))).toBe(
      'unclear',
    );
    expect(readOwedWork(JSON.parse(text))).toBe('nothing');
  });
});
