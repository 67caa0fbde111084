import type { Series } from '../alternate.js';
import { type BenchRow, compare, momentsOf } from '../bench-row.js';
import type { SuiteRequest } from './suite.js';

/** Row 10e: our own time a turn with the longest history against the shortest; nothing where only one was measured. */
export function growthRow(
  { cli }: SuiteRequest,
  sizes: readonly Series[],
  row = '10e',
): readonly BenchRow[] {
  const shortest = sizes[0];
  const longest = sizes.at(-1);
  if (!shortest || !longest || sizes.length < 2) return [];
  return [
    compare(
      {
        row,
        provider: cli.provider,
        cliVersion: cli.version,
        what: 'own time a turn with the longest history / with 10 turns',
        target: { of: 'ratio', atMost: 1.1 },
      },
      // One length was measured after the other, so no two rounds belong together: paired by rank, and without a band.
      { ours: rank(momentsOf(longest, 'own')), probe: rank(momentsOf(shortest, 'own')) },
    ),
  ];
}

function rank(values: readonly number[]): number[] {
  return values.filter(Number.isFinite).sort((one, other) => one - other);
}
