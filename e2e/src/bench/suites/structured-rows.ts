import type { Series } from '../alternate.js';
import { seriesOf } from '../alternate.js';
import { type BenchRow, compare, momentsOf } from '../bench-row.js';
import type { SuiteRequest } from './suite.js';

/** One comparison: whose moment against whose; the probe stands a second time as `<probe> again`. */
export interface RowPlan {
  readonly row: string;
  readonly what: string;
  readonly atMost?: number;
  readonly ours: string;
  readonly probe: string;
  readonly moment: 'answer' | 'durable';
  /** The probe's moment where it has another name. */
  readonly probeMoment?: 'answer' | 'durable';
}

/** Puts the comparisons of a suite together. */
export function planRows(
  { cli }: SuiteRequest,
  series: ReadonlyMap<string, Series>,
  plans: readonly RowPlan[],
): readonly BenchRow[] {
  return plans.map(({ row, what, atMost, ours, probe, moment, probeMoment = moment }) =>
    compare(
      {
        row,
        provider: cli.provider,
        cliVersion: cli.version,
        what,
        ...(atMost === undefined ? {} : { target: { of: 'ratio', atMost } }),
      },
      {
        ours: momentsOf(seriesOf(series, ours), moment),
        probe: momentsOf(seriesOf(series, probe), probeMoment),
        again: momentsOf(seriesOf(series, `${probe} again`), probeMoment),
      },
    ),
  );
}
