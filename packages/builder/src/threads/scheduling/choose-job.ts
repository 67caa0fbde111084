/** What the choice looks at. */
export interface Choice {
  readonly waiting: readonly {
    readonly jobId: string;
    readonly owner: string;
    /** Sorts by time. */
    readonly order: string;
  }[];
  readonly running: readonly { readonly owner: string }[];
  /** Whose jobs were begun, each with a number that is higher the later that was. */
  readonly turns: Readonly<Record<string, number>>;
}

/** The jobs that wait in the order they are begun: fewest running of the owner, whose turn was longest ago, first come. */
export function orderJobs({ waiting, running, turns }: Choice): readonly string[] {
  const runningOf = (owner: string) => running.filter((job) => job.owner === owner).length;
  const ranked = waiting.map(({ jobId, owner, order }) => ({
    jobId,
    rank: [runningOf(owner), turns[owner] ?? 0, order] as const,
  }));
  return ranked.sort((one, other) => compareRanks(one.rank, other.rank)).map(({ jobId }) => jobId);
}

type Rank = readonly [running: number, turn: number, order: string];

function compareRanks([running, turn, order]: Rank, other: Rank): number {
  if (running !== other[0]) return running - other[0];
  if (turn !== other[1]) return turn - other[1];
  if (order === other[2]) return 0;
  return order < other[2] ? -1 : 1;
}

/** How many owners are remembered. */
const OWNERS = 256;

/** The turns once an owner's job was begun; those whose turn was longest ago are forgotten in time. */
export function noteTurn(turns: Choice['turns'], owner: string): Choice['turns'] {
  const last = Math.max(0, ...Object.values(turns));
  const others = Object.entries(turns).filter(([other]) => other !== owner);
  const kept = others.sort(([, one], [, other]) => other - one).slice(0, OWNERS - 1);
  return Object.fromEntries([...kept, [owner, last + 1]]);
}
