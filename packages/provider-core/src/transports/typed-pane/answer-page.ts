import { BlockedError } from '../../errors/turn-error.js';
import type { PaneScreen } from '../../spec/typed-pane.js';
import { type LivePane, pressKey, readPaneScreen } from './live-pane.js';

type Page = Extract<PaneScreen, { state: 'page' }>;

const POLL_MS = 40;
const MOVE_LOOKS = 50;
const MAX_MOVES = 8;

/** Moves the page's marker to the choice, sees it there, and presses Enter once. A marker that does not go there is `blocked`. */
export async function answerPage(pane: LivePane, page: Page): Promise<void> {
  let current = page;
  for (let moves = 0; moves < MAX_MOVES; moves += 1) {
    const { answer } = current;
    if (!answer) throw new BlockedError(page.dialog, page.text);
    if (answer.marked === answer.choice) {
      await pressKey(pane, 'Enter');
      await waitForChange(pane, current);
      return;
    }
    const isBelow =
      answer.choices.indexOf(answer.choice) > answer.choices.indexOf(answer.marked ?? '');
    await pressKey(pane, isBelow ? 'Down' : 'Up');
    const next = await waitForChange(pane, current);
    if (next?.state !== 'page') throw new BlockedError(page.dialog, page.text);
    current = next;
  }
  throw new BlockedError(page.dialog, page.text);
}

/** The first screen that differs; the same one when none came. */
async function waitForChange(pane: LivePane, before: Page): Promise<PaneScreen | undefined> {
  for (let looks = 0; looks < MOVE_LOOKS; looks += 1) {
    await pane.context.clock.sleep(POLL_MS);
    const screen = await readPaneScreen(pane);
    const isSame = screen.state === 'page' && screen.text === before.text;
    if (!isSame) return screen;
  }
  return before;
}
