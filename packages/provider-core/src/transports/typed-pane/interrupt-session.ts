import { SessionBusyError } from '../../errors/turn-error.js';
import { endProcesses } from '../../state/process-tree.js';
import { isTmuxError } from '../tmux/tmux-error.js';
import { type LivePane, pressKey, readPaneActivity } from './live-pane.js';
import type { RunningDelivery } from './running-delivery.js';
import { listOwnProcesses } from './session-files.js';

const POLL_MS = 40;
/**
 * The CLI says late that it is busy, and says idle for a moment between a turn and a message that waited behind it: idle
 * counts once it has lasted.
 */
const IDLE_MS = 800;
/** Escape is pressed again when the turn goes on: the first one may only have closed a popup. */
const PATIENCE_MS = 2_000;
const GRACE_MS = 1_000;

/** Interrupts the running turn by Escape, proven by the CLI's own lasting word that it is idle; past the deadline all its processes are ended. */
export async function interruptSession(
  pane: LivePane,
  delivery: RunningDelivery,
  { deadlineMs }: { readonly deadlineMs: number },
): Promise<void> {
  const { clock } = pane.context;
  const end = clock.monotonicMs() + deadlineMs;
  delivery.isInterrupted = true;
  try {
    while (clock.monotonicMs() < end) {
      // Pressed twice on an idle composer, Escape opens a page.
      if (await staysIdle(pane, end)) return;
      if ((await pressEscape(pane)) === 'no_pane') break;
      await becomesIdle(pane, Math.min(end, clock.monotonicMs() + PATIENCE_MS));
    }
    if (!pane.fence.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
    await endProcesses(listOwnProcesses(pane.context), { graceMs: GRACE_MS });
  } finally {
    delivery.isInterrupted = false;
  }
}

/** A tmux that does not answer presses nothing; at the deadline the processes are ended without it. */
async function pressEscape(pane: LivePane): Promise<'written' | 'no_pane' | 'unknown'> {
  try {
    return await pressKey(pane, 'Escape');
  } catch (error) {
    if (isTmuxError(error)) return 'unknown';
    throw error;
  }
}

/** False at the first sign of anything else, so that a running turn is interrupted at once. */
async function staysIdle(pane: LivePane, end: number): Promise<boolean> {
  const { clock } = pane.context;
  const proven = clock.monotonicMs() + IDLE_MS;
  for (;;) {
    if ((await readPaneActivity(pane)) !== 'idle') return false;
    if (clock.monotonicMs() >= Math.min(proven, end)) return true;
    await clock.sleep(POLL_MS);
  }
}

async function becomesIdle(pane: LivePane, end: number): Promise<void> {
  const { clock } = pane.context;
  while ((await readPaneActivity(pane)) !== 'idle' && clock.monotonicMs() < end) {
    await clock.sleep(POLL_MS);
  }
}
