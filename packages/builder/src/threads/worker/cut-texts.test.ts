import { describe, expect, it } from 'vitest';
import { codingBench } from './__fixtures__/coding-bench.js';
import { readJsonObject } from './read-json-object.js';

const HALF_AT = (length: number) => `${'x'.repeat(length - 1)}😀`;

describe('what a CLI told at length', () => {
  it('costs no turn where it is cut within a character', async () => {
    const bench = await codingBench();
    bench.writes([{ path: 'src/one.txt', content: 'two\n' }]);
    bench.sessions.answers = [HALF_AT(32 * 1024)];
    bench.sessions.extraEvents = [
      { type: 'command_finished', callId: '1', command: HALF_AT(2_000), exitCode: 0 },
    ];
    const { artifact, finalMessage } = await bench.run(bench.job());
    expect(finalMessage).toMatch(/x\ufffd$/);
    expect(artifact?.validationEvidence[0]?.command[0]).toMatch(/x\ufffd$/);
  });

  it('is whole where an escape in an answer says half a character', () => {
    const answer = String.raw`{"summary":"half \ud83d","of":["\ude00"]}`;
    expect(readJsonObject(answer)).toEqual({ summary: 'half \ufffd', of: ['\ufffd'] });
  });

  it('is kept as evidence as far as a frame can hold it', async () => {
    const bench = await codingBench();
    bench.writes([{ path: 'src/one.txt', content: 'two\n' }]);
    bench.sessions.extraEvents = Array.from({ length: 200 }, (_, call) => ({
      type: 'command_finished' as const,
      callId: `${call}`,
      command: 'ж'.repeat(2_000),
      exitCode: 0,
    }));
    const { artifact } = await bench.run(bench.job());
    const kept = artifact?.validationEvidence ?? [];
    expect(kept.length).toBeGreaterThan(20);
    expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThan(160 * 1024);
  });
});
