import { SessionBusyError } from '../../errors/turn-error.js';
import type { PaneScreen, TypedPane } from '../../spec/typed-pane.js';
import type { LeaseFence, SessionActivity, SessionContext } from '../session-transport.js';
import type { PanePart, TmuxKey } from '../tmux/pane-scripts.js';
import type { TmuxServer } from '../tmux/tmux-server.js';
import { type RegisteredProcess, readRegistered } from './session-files.js';

/** The pane of a living session, with the right to type into it. */
export interface LivePane {
  readonly way: TypedPane;
  readonly context: SessionContext;
  readonly server: TmuxServer;
  readonly fence: LeaseFence;
  readonly paneId: string;
  readonly sessionName: string;
  /** The CLI's process. */
  readonly pid: number;
  readonly startTime?: string | undefined;
}

/** What the pane shows. */
export async function readPaneScreen({ way, server, paneId }: LivePane): Promise<PaneScreen> {
  return way.readScreen(await server.capture(paneId, { escapes: true }));
}

/** What the CLI says of its process. */
export async function readPaneProcess(pane: LivePane): Promise<RegisteredProcess | undefined> {
  return readRegistered(pane.way, pane.context, pane.pid);
}

/** What the session is doing, by the CLI's own word. */
export async function readPaneActivity(pane: LivePane): Promise<SessionActivity> {
  return (await readPaneProcess(pane))?.activity ?? 'unknown';
}

/** The token every write to the pane is conditional on. */
export function leaseToken({ token }: LeaseFence): string {
  return String(token);
}

/** Writes all of it or nothing. Says `no_pane` when the pane is gone; another owner is a `session_busy`. */
export async function writeToPane(
  { server, paneId, fence }: LivePane,
  parts: readonly PanePart[],
): Promise<'written' | 'no_pane'> {
  if (!fence.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
  const outcome = await server.pasteParts(paneId, parts, { token: leaseToken(fence) });
  if (outcome === 'fenced') throw new SessionBusyError({ kind: 'ours' });
  return outcome;
}

/** Presses one key under the same condition. */
export async function pressKey(pane: LivePane, key: TmuxKey): Promise<'written' | 'no_pane'> {
  return writeToPane(pane, [{ key }]);
}
