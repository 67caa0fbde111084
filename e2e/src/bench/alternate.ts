import { setTimeout as sleep } from 'node:timers/promises';

/** Named moments or amounts of one round, in milliseconds unless the row says otherwise. */
export type Measurement = Readonly<Record<string, number>>;

/** What a contender measured, round by round; a round that it lost is undefined. */
export type Series = readonly (Measurement | undefined)[];

/** One of the things that are measured against each other. */
export interface Contender {
  readonly name: string;
  /** Gives nothing when its message was lost: a round without a number. */
  readonly measure: () => Promise<Measurement | undefined>;
}

export interface AlternateOptions {
  readonly rounds: number;
  /** Rounds that are run and not counted. */
  readonly warmups: number;
  /** Between two measurements, for what a CLI does after a turn. */
  readonly restMs: number;
}

/** Measures everybody in every round, each round begun by another one, and keeps the rounds paired. */
export async function alternate(
  contenders: readonly Contender[],
  { rounds, warmups, restMs }: AlternateOptions,
): Promise<ReadonlyMap<string, Series>> {
  const series = new Map(contenders.map(({ name }) => [name, [] as (Measurement | undefined)[]]));
  for (let number = -warmups; number < rounds; number++) {
    const first = (number + warmups) % contenders.length;
    for (const contender of [...contenders.slice(first), ...contenders.slice(0, first)]) {
      const measured = await contender.measure();
      if (number >= 0) series.get(contender.name)?.push(measured);
      await sleep(restMs);
    }
  }
  return series;
}

/** The series of one contender. */
export function seriesOf(all: ReadonlyMap<string, Series>, name: string): Series {
  const found = all.get(name);
  if (!found) throw new Error(`Nobody was measured under the name ${name}.`);
  return found;
}
