import { listCodingAdapters } from '@holdfast/agent';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import type { Pair } from './thread-bench.js';

/** The newest version of each CLI that has a coding adapter. */
export function listNewest(clis: readonly CliUnderTest[]): readonly CliUnderTest[] {
  const providers = new Set(listCodingAdapters().map(({ provider }): string => provider));
  // The list has the versions of each in rising order.
  const newest = new Map(
    clis.filter(({ provider }) => providers.has(provider)).map((cli) => [cli.provider, cli]),
  );
  return [...newest.values()].toReversed();
}

/** Every two CLIs of different providers, the newest of each, in either order. */
export function listPairs(clis: readonly CliUnderTest[]): readonly Pair[] {
  const all = listNewest(clis);
  return all.flatMap((implement) =>
    all.filter((review) => review !== implement).map((review) => ({ implement, review })),
  );
}

/** A pair in words. */
export function namePair({ implement, review }: Pair): string {
  const name = ({ provider, version }: CliUnderTest) => `${provider} ${version}`;
  return `${name(implement)} implements, ${name(review)} reviews`;
}
