import { SessionBusyError } from '../../errors/turn-error.js';
import { type LivePane, pressKey } from './live-pane.js';
import { readSettledComposer } from './settled-composer.js';

/** A second C-c within about a second would end the CLI. */
const SAFE_PAUSE_MS = 1_600;
const POLL_MS = 40;
const MAX_TRIES = 3;

/** Empties the composer and proves it; a draft that cannot be emptied stays a person's. */
export async function clearComposer(pane: LivePane): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const composer = await readSettledComposer(pane);
    if (composer.content === 'empty') return;
    if (composer.content === 'other_mode') await leaveOtherMode(pane);
    else await pressClear(pane);
    if (await becomesEmpty(pane)) return;
  }
  throw new SessionBusyError({ kind: 'person' });
}

/** When C-c was last pressed, on the monotonic clock, by pane and process: a second one too soon ends the CLI. */
const lastPressed = new Map<string, number>();

async function pressClear(pane: LivePane): Promise<void> {
  const { clock } = pane.context;
  const key = `${pane.paneId}.${pane.pid}`;
  const since = clock.monotonicMs() - (lastPressed.get(key) ?? Number.NEGATIVE_INFINITY);
  if (since < SAFE_PAUSE_MS) await clock.sleep(SAFE_PAUSE_MS - since);
  await pressKey(pane, 'C-c');
  lastPressed.set(key, clock.monotonicMs());
}

/** C-c does not empty another mode's line. */
async function leaveOtherMode(pane: LivePane): Promise<void> {
  await pressKey(pane, 'C-u');
  await pressKey(pane, 'BSpace');
}

async function becomesEmpty(pane: LivePane): Promise<boolean> {
  const { clock } = pane.context;
  const end = clock.monotonicMs() + SAFE_PAUSE_MS;
  for (;;) {
    const composer = await readSettledComposer(pane);
    if (composer.content === 'empty') return true;
    if (clock.monotonicMs() >= end) return false;
    await clock.sleep(POLL_MS);
  }
}
