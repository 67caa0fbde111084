import type { ToolServerKind } from '@holdfast/provider-core/certification';
import { listModelApiFixtures, type ModelApiFixture } from '../../harness/providers/model-apis.js';
import { createRandom, shuffle } from '../random.js';
import { type ApiCell, apiCells, needsTool, startCell } from './api-cell.js';

/** One session of an API agent and the kills it has to live through; the first turn starts it. */
export interface ApiPlan {
  readonly api: ModelApiFixture;
  readonly tools: ToolServerKind;
  readonly cells: readonly ApiCell[];
}

/** Spreads the kills over cells and model APIs, the same for the same seed; every cell once before any comes again. */
export function planApiKills({
  kills,
  seed,
  provider,
  onlyCell,
}: {
  readonly kills: number;
  readonly seed: number;
  readonly provider?: string | undefined;
  readonly onlyCell?: ApiCell | undefined;
}): readonly ApiPlan[] {
  const random = createRandom(seed);
  const all = listModelApiFixtures();
  const apis = shuffle(
    all.filter((api) => provider === undefined || api.provider === provider),
    random,
  ).slice(0, Math.max(0, kills));
  const draw = createDeck(random);
  const plans = apis.map((api, index) => ({
    api,
    tools: index % 2 === 0 ? ('stdio' as const) : ('http' as const),
    // The first turn has no errand, so that only what needs no tool can happen in it.
    cells: [index === 0 ? startCell : (onlyCell ?? draw((cell) => !needsTool(cell)))],
  }));
  for (let kill = plans.length; kill < kills && plans.length > 0; kill += 1) {
    plans[kill % plans.length]?.cells.push(onlyCell ?? draw(() => true));
  }
  return plans;
}

/** Deals every cell but the start's once before any comes again. */
function createDeck(random: () => number): (fits: (cell: ApiCell) => boolean) => ApiCell {
  const cards = apiCells.filter((cell) => cell !== startCell);
  let deck: ApiCell[] = [];
  return (fits) => {
    if (!deck.some(fits)) deck = [...deck, ...shuffle(cards, random)];
    const drawn = deck.findLast(fits) ?? startCell;
    deck = deck.filter((cell) => cell !== drawn);
    return drawn;
  };
}
