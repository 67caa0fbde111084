/** The middle value; NaN of nothing. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which `share` of the values lie, interpolated. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)];
  const high = sorted[Math.ceil(place)];
  if (low === undefined || high === undefined) return Number.NaN;
  return low + (high - low) * (place - Math.floor(place));
}

/** Each value divided by the one of the same round. A round that one of the two lost has no ratio. */
export function pairedRatios(values: readonly number[], others: readonly number[]): number[] {
  return values
    .map((value, round) => value / (others[round] ?? Number.NaN))
    .filter(Number.isFinite);
}

/** The band that holds the median of these ratios in 90 of 100 repetitions of the run, by resampling. */
export function bandOfMedian(ratios: readonly number[]): readonly [number, number] {
  const random = createRandom(ratios.length);
  const medians = Array.from({ length: RESAMPLES }, () =>
    median(ratios.map(() => ratios[Math.floor(random() * ratios.length)] ?? Number.NaN)),
  );
  return [quantile(medians, 0.05), quantile(medians, 0.95)];
}

const RESAMPLES = 2_000;

/** Seeded, so that the same measurements print the same band. */
function createRandom(seed: number): () => number {
  let state = seed + 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
