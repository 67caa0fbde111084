import { createRandom, pick, shuffle } from '../random.js';
import type { Recording } from './record-writes.js';
import { type WorkflowCell, type WorkflowTarget, workflowTargets } from './workflow-cell.js';

/** How many kills one run lives through. */
export const KILLS_A_RUN = 4;

/** One in so many kills comes at a moment; the others at a durable write. */
const MOMENT_EVERY = 4;

/** The kills of one driver, in the order they are dealt. */
export interface DriverCells {
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
): readonly DriverCells[] {
  const random = createRandom(seed);
  const dealt = recordings.map((recording) => ({ recording, cells: [] as WorkflowCell[] }));
  const points = [...new Set(recordings.flatMap(({ writes }) => [...writes.keys()]))].sort();
  let deck: string[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const isMoment = kill % MOMENT_EVERY === MOMENT_EVERY - 1;
    const target = workflowTargets[Math.floor(kill / MOMENT_EVERY) % workflowTargets.length];
    if (isMoment && target) {
      const able = dealt.filter(({ recording }) => hasTarget(recording, target));
      const share = random();
      findIdlest(able)?.cells.push({ kind: 'moment', target, share });
      continue;
    }
    if (deck.length === 0) deck = shuffle(points, random);
    const point = deck.pop() ?? '';
    const hands = findIdlest(dealt.filter(({ recording }) => recording.writes.has(point)));
    const taken = hands?.recording.writes.get(point) ?? 1;
    const nth = pick([1, 1 + Math.floor(random() * taken)], random);
    hands?.cells.push({ kind: 'write', point, nth });
  }
  return dealt;
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
