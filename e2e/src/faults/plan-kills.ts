import type { CliUnderTest } from '../harness/cli-under-test.js';
import { type FaultCell, isStartStep, steps, type Target, targets, windows } from './fault-cell.js';
import { createRandom, pick, shuffle } from './random.js';

/** One session and the kills it has to live through; the first turn starts it. */
export interface SessionPlan {
  readonly cli: CliUnderTest;
  readonly cells: readonly FaultCell[];
}

export interface KillPlanOptions {
  readonly kills: number;
  readonly seed: number;
  readonly clis: readonly CliUnderTest[];
  /** Whether this CLI is served by a process of its own beside the pane. */
  readonly isServed: (cli: CliUnderTest) => boolean;
  /** Nothing but this kill, again and again, after the first turn. */
  readonly onlyCell?: FaultCell | undefined;
}

const KILLS_A_SESSION = 6;
const DELAYS_MS = [0, 0, 5, 20, 80, 250] as const;

/** Spreads the kills over steps, windows, targets and CLIs, the same for the same seed. */
export function planKills({
  kills,
  seed,
  clis,
  isServed,
  onlyCell,
}: KillPlanOptions): SessionPlan[] {
  const random = createRandom(seed);
  const sessions = Math.max(clis.length, Math.ceil(kills / KILLS_A_SESSION));
  const drawFirst = createDeck(firstCells, random);
  const drawLater = createDeck(onlyCell ? [onlyCell] : laterCells, random);
  const order = shuffle(clis, random);
  const plans = Array.from({ length: sessions }, (_, index) => {
    const cli = order[index % order.length];
    if (!cli) throw new Error('There is no CLI to kill.');
    return { cli, cells: [drawFirst()] };
  });
  for (let kill = sessions; kill < kills; kill += 1) {
    const plan = plans[kill % sessions];
    plan?.cells.push(drawLater());
  }
  return plans.map(({ cli, cells }) => ({
    cli,
    cells: cells.map((cell) => settleCell(cell, isServed(cli), random)),
  }));
}

type DeckCell =
  | FaultCell
  | { readonly kind: 'any_target'; readonly window: (typeof windows)[number] };

const firstCells: readonly DeckCell[] = steps
  .filter((step) => isStartStep(step))
  .map((step) => ({ kind: 'step', step }));

const laterCells: readonly DeckCell[] = [
  ...steps.filter((step) => !isStartStep(step)).map((step) => ({ kind: 'step', step }) as const),
  ...windows.map((window) => ({ kind: 'any_target', window }) as const),
];

/** Deals every card once before any comes again. */
function createDeck(cards: readonly DeckCell[], random: () => number): () => DeckCell {
  let deck: DeckCell[] = [];
  return () => {
    if (deck.length === 0) deck = shuffle(cards, random);
    const card = deck.pop();
    if (!card) throw new Error('The deck has no cards.');
    return card;
  };
}

function settleCell(cell: DeckCell, isServed: boolean, random: () => number): FaultCell {
  // Nothing is pasted to a server.
  if (cell.kind === 'step' && cell.step === 'pasted' && isServed) {
    return { kind: 'step', step: 'submitting' };
  }
  if (cell.kind !== 'any_target') return cell;
  const fitting = targets.filter(
    (target) =>
      (isServed || target !== 'server') &&
      // Between turns there is no service.
      (cell.window !== 'between_turns' || target !== 'service'),
  );
  const [first, ...rest] = fitting;
  const target: Target = pick([first ?? 'machine', ...rest], random);
  const delayMs = cell.window === 'between_turns' ? 0 : pick(DELAYS_MS, random);
  return { kind: 'window', window: cell.window, target, delayMs };
}
