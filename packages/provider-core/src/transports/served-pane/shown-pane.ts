import type { ServedPane } from '../../spec/served-pane.js';
import type { EmitTurnEvent } from '../../spec/turn-event.js';
import { createChildEnvironment } from '../child-environment.js';
import type { SessionContext } from '../session-transport.js';
import { terminalIdOf } from '../tmux/capture-terminal.js';
import { findTmuxServer, openTmuxServer } from '../tmux/open-tmux-server.js';
import { TmuxError } from '../tmux/tmux-error.js';
import type { PaneObservation, TmuxServer } from '../tmux/tmux-server.js';

/** The pane that shows a session. */
export interface ShownPane {
  readonly tmuxSession: string;
  readonly terminalId: string;
  readonly pid: number;
}

/** Looks for the session's pane; starts no tmux server. A way without a pane never asks tmux. */
export async function findShownPane(
  { paneLaunch }: Pick<ServedPane, 'paneLaunch'>,
  context: SessionContext,
): Promise<
  { readonly state: 'present'; readonly pane: ShownPane } | { readonly state: 'absent' | 'unknown' }
> {
  if (!paneLaunch) return { state: 'absent' };
  const { tmuxSocket: socketPath, nonce } = context;
  try {
    await using server = await findTmuxServer({ socketPath });
    if (!server) return { state: 'absent' };
    const found = await server.findPane({ nonce });
    return found.state === 'present' && !found.dead
      ? { state: 'present', pane: describePane(found) }
      : { state: found.state === 'unknown' ? 'unknown' : 'absent' };
  } catch (error) {
    context.logger.debug({ err: error }, 'pane not seen');
    return { state: 'unknown' };
  }
}

export interface ShowPaneRequest {
  readonly way: ServedPane;
  readonly context: SessionContext;
  readonly nativeSessionId: string;
  readonly serverSocket: string;
  readonly leaseToken: number;
  /** A pane of a server that is gone shows nothing any more and is replaced. */
  readonly replace: boolean;
  readonly emit: EmitTurnEvent;
}

/** Finds the pane or opens one. Never throws: a pane that fails never fails a turn. */
export async function showPane(request: ShowPaneRequest): Promise<ShownPane | undefined> {
  const { way, context, emit, replace } = request;
  const { paneLaunch } = way;
  if (!paneLaunch) return undefined;
  const { tmuxSocket: socketPath, nonce } = context;
  try {
    await using server = await openTmuxServer({ socketPath });
    const found = await server.findPane({ nonce });
    if (found.state === 'unknown') throw new TmuxError('unresponsive', found.why);
    if (found.state === 'present' && !replace && !found.dead) return describePane(found);
    if (found.state === 'present') await server.killPane(found.paneId);
    const pane = await openPane(request, server, paneLaunch);
    emit({
      type: 'terminal_opened',
      terminalId: pane.terminalId,
      label: context.definition.displayName,
    });
    return pane;
  } catch (error) {
    context.logger.warn({ err: error }, 'pane not opened');
    emit({
      type: 'notice',
      text: 'The terminal could not be opened; the turn goes on without one.',
    });
    return undefined;
  }
}

async function openPane(
  request: ShowPaneRequest,
  server: TmuxServer,
  paneLaunch: NonNullable<ServedPane['paneLaunch']>,
): Promise<ShownPane> {
  const { context, nativeSessionId, serverSocket, leaseToken } = request;
  const { config, cliHome, nonce, binary, filesDir } = context;
  const { args, env } = paneLaunch({ cliHome, socketPath: serverSocket, nativeSessionId });
  const { paneId, sessionName, pid } = await server.openPane({
    sessionName: sessionNameOf(request),
    argv: [binary, ...args],
    env: createChildEnvironment({ config, added: env, nonce }),
    workingDir: filesDir,
    nonce,
    leaseToken: String(leaseToken),
  });
  return { tmuxSession: sessionName, terminalId: terminalIdOf({ nonce, paneId, pid }), pid };
}

/** The name a new pane's tmux session is asked for. */
export function sessionNameOf({
  context,
  nativeSessionId,
}: Pick<ShowPaneRequest, 'context' | 'nativeSessionId'>): string {
  return `${context.definition.id}-${nativeSessionId.slice(-8)}`;
}

/** Closes the session's pane. One that cannot be seen is left to the nonce. */
export async function closePane(
  { paneLaunch }: Pick<ServedPane, 'paneLaunch'>,
  context: SessionContext,
): Promise<void> {
  if (!paneLaunch) return;
  const { tmuxSocket: socketPath, nonce } = context;
  await using server = await findTmuxServer({ socketPath });
  if (!server) return;
  const found = await server.findPane({ nonce });
  if (found.state === 'present') await server.killPane(found.paneId);
}

function describePane(found: Extract<PaneObservation, { state: 'present' }>): ShownPane {
  return {
    tmuxSession: found.sessionName,
    terminalId: terminalIdOf(found),
    pid: found.pid,
  };
}
