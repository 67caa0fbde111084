import { createRandom, pick, shuffle } from '../random.js';
import type { Recording } from './record-writes.js';
import { type WorkflowCell, type WorkflowTarget, workflowTargets } from './workflow-cell.js';

/** How many kills one run lives through. */
const KILLS_A_RUN = 4;

/** One in so many kills comes at a moment; the others at a durable write. */
const MOMENT_EVERY = 4;

/** The rest of a run's time is spent on setting it up and on closing it. */
const LAST_SHARE = 0.6;

/** One run of one driver and its kills, in the order in which they are due. */
export interface PlannedRun {
  readonly recording: Recording;
  readonly cells: readonly WorkflowCell[];
}

/**
 * Spreads the kills over the durable writes that the recordings show, the moments and the drivers, the same for the same
 * seed and recordings: each write once before any comes again.
 */
export function planWorkflowKills(
  recordings: readonly Recording[],
  { kills, seed }: { readonly kills: number; readonly seed: number },
): readonly PlannedRun[] {
  const random = createRandom(seed);
  const dealt = recordings.map((recording) => ({ recording, cells: [] as WorkflowCell[] }));
  const points = [...new Set(recordings.flatMap(({ writes }) => writes))].sort();
  const alive = workflowTargets.filter((target) =>
    recordings.some((recording) => hasTarget(recording, target)),
  );
  let deck: string[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const isMoment = kill % MOMENT_EVERY === MOMENT_EVERY - 1;
    const target = alive[Math.floor(kill / MOMENT_EVERY) % alive.length];
    if (isMoment && target) {
      const able = dealt.filter(({ recording }) => hasTarget(recording, target));
      const share = random() * LAST_SHARE;
      findIdlest(able)?.cells.push({ kind: 'moment', target, share });
      continue;
    }
    if (deck.length === 0) deck = shuffle(points, random);
    const point = deck.pop() ?? '';
    const hands = findIdlest(dealt.filter(({ recording }) => recording.writes.includes(point)));
    const taken = hands?.recording.writes.filter((one) => one === point).length ?? 1;
    const nth = pick([1, 1 + Math.floor(random() * taken)], random);
    hands?.cells.push({ kind: 'write', point, nth });
  }
  return dealt.flatMap(({ recording, cells }) => {
    const runs = Math.ceil(cells.length / KILLS_A_RUN);
    return Array.from({ length: runs }, (_, run) => ({
      recording,
      cells: inOrder(
        recording,
        cells.filter((_cell, index) => index % runs === run),
      ),
    }));
  });
}

/**
 * The kills of one run as they are due, each write counted from the kill before it: a service that is started again
 * counts anew, and takes what was taken no second time.
 */
function inOrder({ writes }: Recording, cells: readonly WorkflowCell[]): readonly WorkflowCell[] {
  const due = cells
    .map((cell) => ({ cell, at: placeOf(cell, writes) }))
    .toSorted((one, other) => one.at - other.at);
  return due.map(({ cell, at }, index) => {
    if (cell.kind === 'moment') return cell;
    const since = writes.slice((due[index - 1]?.at ?? -1) + 1, at + 1);
    return { ...cell, nth: Math.max(1, since.filter((one) => one === cell.point).length) };
  });
}

/** Where a kill comes in a run that nobody disturbs, as a place among its writes. */
function placeOf(cell: WorkflowCell, writes: readonly string[]): number {
  if (cell.kind === 'moment') return cell.share * writes.length;
  const places = writes.flatMap((point, place) => (point === cell.point ? [place] : []));
  return places[cell.nth - 1] ?? 0;
}

function findIdlest<Hand extends { readonly cells: readonly unknown[] }>(
  hands: readonly Hand[],
): Hand | undefined {
  return hands.toSorted((one, other) => one.cells.length - other.cells.length)[0];
}

/** An agent on a model API has no process but its service. */
function hasTarget({ driver }: Recording, target: WorkflowTarget): boolean {
  return driver.kind === 'cli' || target === 'service';
}
