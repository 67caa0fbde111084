import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appendJsonLine, writeFileAtomic } from '@holdfast/provider-core';
import { alternate, seriesOf } from '../alternate.js';
import { type BenchRow, compare, momentsOf } from '../bench-row.js';
import { appendLine, replaceFile } from '../probes/bare-writes.js';
import type { Suite } from './suite.js';

const CONTENT = JSON.stringify({ text: 'x'.repeat(1_500) });
const ENTRY = { step: 'submitting', attempt: 1, at: '2026-01-01T00:00:00.000Z' };
/** One write is over so soon that many fit where one turn does. */
const WRITES = 10;

/** Our own durable writes against the fewest calls that do the same. */
export const journal: Suite = {
  rows: ['journal'],
  run: async ({ rounds }) => {
    const folder = await mkdtemp(join(tmpdir(), 'hf-bench-'));
    const timed = (name: string, write: (path: string) => Promise<void>) => ({
      name,
      measure: async () => {
        const start = performance.now();
        for (let count = 0; count < WRITES; count++) await write(join(folder, name));
        return { ms: (performance.now() - start) / WRITES };
      },
    });
    try {
      const series = await alternate(
        [
          timed('ours-replace', (path) => writeFileAtomic(path, CONTENT)),
          timed('probe-replace', (path) => replaceFile(path, CONTENT)),
          timed('again-replace', (path) => replaceFile(path, CONTENT)),
          timed('ours-append', (path) => appendJsonLine(path, ENTRY, { sync: true })),
          timed('probe-append', (path) => appendLine(path, ENTRY)),
          timed('again-append', (path) => appendLine(path, ENTRY)),
        ],
        { rounds: Math.max(rounds, 31), warmups: 2, restMs: 0 },
      );
      const row = (part: 'a' | 'b', kind: 'replace' | 'append', what: string): BenchRow =>
        compare(
          { row: `journal-${part}`, provider: '-', cliVersion: '-', what },
          {
            ours: momentsOf(seriesOf(series, `ours-${kind}`), 'ms'),
            probe: momentsOf(seriesOf(series, `probe-${kind}`), 'ms'),
            again: momentsOf(seriesOf(series, `again-${kind}`), 'ms'),
          },
        );
      return [
        row('a', 'replace', 'replace a file durably / write, fsync, rename, fsync of the folder'),
        row('b', 'append', 'append a journal step durably / open, write, fdatasync'),
      ];
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
