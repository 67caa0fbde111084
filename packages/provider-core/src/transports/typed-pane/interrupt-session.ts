import { endProcesses } from '../../state/process-tree.js';
import { type LivePane, pressKey, readPaneActivity } from './live-pane.js';
import { listOwnProcesses } from './session-files.js';

const POLL_MS = 40;
/** Escape is pressed again when the turn goes on: the first one may only have closed a popup. */
const PATIENCE_MS = 2_000;
const GRACE_MS = 1_000;

/** Interrupts the running turn by Escape, proven by the CLI's own word that it is idle; past the deadline all its processes are ended. */
export async function interruptSession(
  pane: LivePane,
  { deadlineMs }: { readonly deadlineMs: number },
): Promise<void> {
  const { clock } = pane.context;
  const end = clock.monotonicMs() + deadlineMs;
  while (clock.monotonicMs() < end) {
    // Pressed twice on an idle composer, Escape opens a page.
    if ((await readPaneActivity(pane)) === 'idle') return;
    if ((await pressKey(pane, 'Escape')) === 'no_pane') break;
    if (await becomesIdle(pane, Math.min(end, clock.monotonicMs() + PATIENCE_MS))) return;
  }
  await endProcesses(listOwnProcesses(pane.context), { graceMs: GRACE_MS });
}

async function becomesIdle(pane: LivePane, end: number): Promise<boolean> {
  const { clock } = pane.context;
  for (;;) {
    if ((await readPaneActivity(pane)) === 'idle') return true;
    if (clock.monotonicMs() >= end) return false;
    await clock.sleep(POLL_MS);
  }
}
