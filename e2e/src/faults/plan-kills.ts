import type { Way } from '@holdfast/provider-core';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import {
  type FaultCell,
  isStartStep,
  steps,
  type Target,
  targets,
  type Window,
  windows,
} from './fault-cell.js';
import { createRandom, pick, shuffle } from './random.js';

/** One CLI in one of its ways. */
export interface Driver {
  readonly cli: CliUnderTest;
  readonly way: Way;
  /** A server of its own stands behind its sessions. */
  readonly isServed: boolean;
}

/** One session and the kills it has to live through; the first turn starts it. */
export interface SessionPlan extends Driver {
  readonly cells: readonly FaultCell[];
}

export interface KillPlanOptions {
  readonly kills: number;
  readonly seed: number;
  readonly drivers: readonly Driver[];
  /** Nothing but this kill, again and again, after the first turn. */
  readonly onlyCell?: FaultCell | undefined;
}

const KILLS_A_SESSION = 6;
const DELAYS_MS = [0, 0, 5, 20, 80, 250] as const;

/** Spreads the kills over steps, windows, targets, CLIs and ways, the same for the same seed. */
export function planKills({ kills, seed, drivers, onlyCell }: KillPlanOptions): SessionPlan[] {
  if (drivers.length === 0 || kills <= 0) return [];
  const random = createRandom(seed);
  const sessions = Math.max(drivers.length, Math.ceil(kills / KILLS_A_SESSION));
  const drawFirst = createDeck(firstCells, random);
  const drawLater = createDeck(onlyCell ? [onlyCell] : laterCells, random);
  const order = shuffle(drivers, random);
  const plans = Array.from({ length: sessions }, (_, index) => {
    const driver = order[index % order.length];
    if (!driver) throw new Error('There is no CLI to kill.');
    return { driver, cells: [settleCell(drawFirst(driver), driver, random)] };
  });
  for (let kill = sessions; kill < kills; kill += 1) {
    const plan = plans[kill % sessions];
    plan?.cells.push(settleCell(drawLater(plan.driver), plan.driver, random));
  }
  return plans.map(({ driver, cells }) => ({ ...driver, cells }));
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

/** Deals every card once before any comes again; a card that a driver cannot be dealt waits for one that can. */
function createDeck(
  cards: readonly DeckCell[],
  random: () => number,
): (driver: Driver) => DeckCell {
  let deck: DeckCell[] = [];
  return (driver) => {
    const fits = (card: DeckCell) => !isPaste(card) || (driver.way === 'tmux' && !driver.isServed);
    if (!deck.some(fits)) deck = [...deck, ...shuffle(cards, random)];
    const card = deck.findLast(fits);
    if (!card) throw new Error('The deck has no cards.');
    deck = deck.filter((other) => other !== card);
    return card;
  };
}

/** Only where a provider is typed to is anything pasted. */
function isPaste(card: DeckCell): boolean {
  return card.kind === 'step' && card.step === 'pasted';
}

function settleCell(cell: DeckCell, driver: Driver, random: () => number): FaultCell {
  if (cell.kind !== 'any_target') return cell;
  const fitting = targets.filter((target) => isThere(target, cell.window, driver));
  const [first, ...rest] = fitting;
  const target: Target = pick([first ?? 'machine', ...rest], random);
  const delayMs = cell.window === 'between_turns' ? 0 : pick(DELAYS_MS, random);
  return { kind: 'window', window: cell.window, target, delayMs };
}

/** What does not live at a moment cannot be killed then. */
function isThere(target: Target, window: Window, { way, isServed }: Driver): boolean {
  const isBetween = window === 'between_turns';
  switch (target) {
    case 'service':
      return !isBetween;
    case 'pane':
    case 'tmux_server':
      return way === 'tmux';
    case 'server':
      return isServed;
    case 'cli':
      // A structured process goes with its service, and one of a turn with the turn; a server is no process of a session.
      return way === 'tmux' || (!isServed && !isBetween);
    case 'machine':
      return true;
  }
}
