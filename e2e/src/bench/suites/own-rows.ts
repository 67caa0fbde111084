import type { CliUnderTest } from '../../harness/cli-under-test.js';
import type { Series } from '../alternate.js';
import { type BenchRow, bound, momentsOf } from '../bench-row.js';
import { median, quantile } from '../statistics.js';

/** The rows d to f of a way, 5 in tmux: what of a warm turn is ours and not the CLI's. */
export function ownRows(
  { provider, version }: CliUnderTest,
  series: Series,
  number = '5',
): readonly BenchRow[] {
  const head = { provider, cliVersion: version };
  const moments = (name: string) => momentsOf(series, name);
  const middle = (name: string) => median(moments(name)).toFixed(1);
  const most = (atMost: number) => ({ of: 'ours', atMost }) as const;
  const note = `before the first byte ${middle('before')}, after the record's end ${middle('after')}`;
  const own = moments('own');
  return [
    bound(
      {
        ...head,
        row: `${number}d`,
        what: 'own time outside the CLI, median',
        target: most(3),
        note,
      },
      median(own),
      own.length,
    ),
    bound(
      { ...head, row: `${number}e`, what: 'own time outside the CLI, p95', target: most(10) },
      quantile(own, 0.95),
      own.length,
    ),
    bound(
      {
        ...head,
        row: `${number}f`,
        what: 'waiting for the disk within a turn',
        note: `${median(moments('syncs'))} fsyncs`,
      },
      median(moments('syncMs')),
      own.length,
    ),
  ];
}
