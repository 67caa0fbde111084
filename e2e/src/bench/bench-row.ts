import type { Measurement, Series } from './alternate.js';
import { bandOfMedian, median, pairedRatios } from './statistics.js';

/** One line of the bench: what was measured of ours, of the probe beside it, and whether the target holds. */
export interface BenchRow {
  /** The row of the targets, with a letter for its parts. */
  readonly row: string;
  readonly provider: string;
  readonly cliVersion: string;
  readonly what: string;
  readonly unit: string;
  /** Median of ours. */
  readonly ours: number | null;
  /** Median of the probe; null where a row bounds ours alone. */
  readonly probe: number | null;
  /** Median of the ratios by round. */
  readonly ratio: number | null;
  /** The 90 % band of the same ratio when the probe is measured against itself. */
  readonly band: readonly [number, number] | null;
  readonly target: Target | null;
  /** Null where a row has no target. */
  readonly met: boolean | null;
  readonly rounds: number;
  readonly note?: string;
}

/** What the median ratio, or our own median, may be at most. */
export interface Target {
  readonly of: 'ratio' | 'ours';
  readonly atMost: number;
}

/** What a row is about, before anything is measured. */
export interface RowHead {
  readonly row: string;
  readonly provider: string;
  readonly cliVersion: string;
  readonly what: string;
  readonly unit?: string;
  readonly target?: Target;
  readonly note?: string;
}

/** A row that sets ours against a probe, by round; `again` is the same probe once more, for the band. */
export function compare(
  head: RowHead,
  values: {
    readonly ours: readonly number[];
    readonly probe: readonly number[];
    readonly again?: readonly number[];
  },
): BenchRow {
  const ratios = pairedRatios(values.ours, values.probe);
  const same = values.again ? pairedRatios(values.probe, values.again) : [];
  return finish(head, {
    ours: median(values.ours),
    probe: median(values.probe),
    ratio: median(ratios),
    band: same.length > 0 ? bandOfMedian(same) : null,
    rounds: ratios.length,
  });
}

/** A row that bounds ours alone. */
export function bound(head: RowHead, ours: number, rounds: number): BenchRow {
  return finish(head, { ours, probe: null, ratio: null, band: null, rounds });
}

/** One moment of every round of a series; a lost round is NaN, so that rounds stay paired. */
export function momentsOf(series: Series | undefined, moment: string): readonly number[] {
  return (series ?? []).map(
    (measured: Measurement | undefined) => measured?.[moment] ?? Number.NaN,
  );
}

interface Figures {
  readonly ours: number;
  readonly probe: number | null;
  readonly ratio: number | null;
  readonly band: readonly [number, number] | null;
  readonly rounds: number;
}

function finish(head: RowHead, { ours, probe, ratio, band, rounds }: Figures): BenchRow {
  const { target, note, unit = 'ms' } = head;
  const judged = target?.of === 'ratio' ? ratio : ours;
  return {
    row: head.row,
    provider: head.provider,
    cliVersion: head.cliVersion,
    what: head.what,
    unit,
    ours: round(ours),
    probe: probe === null ? null : round(probe),
    ratio: ratio === null ? null : round(ratio),
    band: band && [round(band[0]) ?? 0, round(band[1]) ?? 0],
    target: target ?? null,
    met: target && Number.isFinite(judged) ? Number(judged) <= target.atMost : null,
    rounds,
    ...(note === undefined ? {} : { note }),
  };
}

function round(value: number): number | null {
  if (!Number.isFinite(value)) return null;
  return Number(value.toPrecision(value >= 1_000 ? 5 : 4));
}
