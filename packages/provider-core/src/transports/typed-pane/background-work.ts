import { stat } from 'node:fs/promises';
import type { TypedPane } from '../../spec/typed-pane.js';
import { readJsonLines } from '../../state/json-lines.js';
import type { SessionContext } from '../session-transport.js';
import { type LivePane, readPaneProcess } from './live-pane.js';
import type { RunningDelivery } from './running-delivery.js';
import { spoolPath } from './session-files.js';

/** How far back from its end the spool is looked through for the last end of a turn. */
const TAIL_BYTES = 256 * 1024;

/**
 * How much goes on behind a turn's end: what the hook at that end told of commands and subagents, and at least one while
 * the CLI says that a command of its own runs.
 */
export async function countBackgroundWork(
  pane: LivePane,
  { backgroundTasks }: RunningDelivery,
): Promise<number | 'unknown'> {
  const registered = await readPaneProcess(pane);
  if (!registered) return 'unknown';
  return registered.hasBackgroundCommands ? Math.max(1, backgroundTasks) : backgroundTasks;
}

/** The same hook's word from before this service looked. */
export async function readBackgroundTasks(
  way: TypedPane,
  context: SessionContext,
): Promise<number> {
  const path = spoolPath(way, context);
  const size = await stat(path).then(
    (entry) => entry.size,
    () => 0,
  );
  const found = await readJsonLines(path, { fromByte: Math.max(0, size - TAIL_BYTES) });
  if (found === 'absent') return 0;
  return found.lines.reduce((tasks, { value }) => {
    const sign = way.readSignal(value);
    const isEnd = sign?.type === 'record' && sign.event.type === 'turn_ended';
    return isEnd ? sign.event.backgroundWork : tasks;
  }, 0);
}
