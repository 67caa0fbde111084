import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LaunchPlan } from '../../spec/launch-plan.js';
import type { TypedPane } from '../../spec/typed-pane.js';
import { createChildEnvironment, resolveValue } from '../child-environment.js';
import type { OpenRequest, SessionContext } from '../session-transport.js';
import { terminalIdOf } from '../tmux/capture-terminal.js';
import type { PaneObservation, TmuxServer } from '../tmux/tmux-server.js';
import { clearRequests } from './approver.js';
import { createSignalUrl } from './http-signals.js';
import { type LivePane, leaseToken } from './live-pane.js';
import {
  checkWorkingDir,
  endLeftovers,
  hasConversation,
  writePlannedFiles,
} from './prepare-launch.js';
import { nativeIdOf, spoolPath } from './session-files.js';

/** File in the session's folder that takes what the CLI says as it ends at once. */
export const STDERR_FILE = 'stderr.log';

interface LaunchPaneRequest {
  readonly way: TypedPane;
  readonly context: SessionContext;
  readonly request: OpenRequest;
  readonly server: TmuxServer;
  /** A pane of ours whose process has ended. */
  readonly deadPane: PaneObservation;
}

/** A pane in which the CLI has been started. */
export interface LaunchedPane {
  readonly pane: LivePane;
  readonly resumed: boolean;
}

/** Starts the CLI in a new pane: with the session's id when it has no record yet, else resuming it. */
export async function launchPane(launch: LaunchPaneRequest): Promise<LaunchedPane> {
  const { way, context, request } = launch;
  await checkWorkingDir(context);
  await endLeftovers(context);
  if (launch.deadPane.state === 'present') await launch.server.killPane(launch.deadPane.paneId);
  const resume = await hasConversation(way, context, request);
  if (request.expectsLive) request.emit({ type: 'lost_tmux' });
  if (resume) request.emit({ type: 'resuming' });
  const plan = way.launch({
    ...context,
    nativeSessionId: nativeIdOf(context),
    resume,
    finishInterruptedTurn: request.finishInterruptedTurn,
    signalUrl: await createSignalUrl(context),
  });
  await clearRequests(way, context);
  await rm(spoolPath(way, context), { force: true });
  await rm(join(context.filesDir, way.gate.armedFile), { force: true });
  await writePlannedFiles(context, plan.files);
  return { pane: await openPane(launch, plan), resumed: resume };
}

async function openPane(
  { way, context, request, server }: LaunchPaneRequest,
  plan: LaunchPlan,
): Promise<LivePane> {
  const { config, nonce, binary, definition, filesDir } = context;
  const added = Object.entries(plan.env).map(([name, value]) => [
    name,
    resolveValue(value, `the launch variable ${name}`),
  ]);
  const opened = await server.openPane({
    sessionName: `${definition.id}-${nativeIdOf(context).slice(0, 8)}`,
    // What a CLI says as it ends is often gone from the pane before anyone can look.
    argv: ['/bin/sh', '-c', 'exec "$@" 2>"$0"', join(filesDir, STDERR_FILE), binary, ...plan.args],
    env: createChildEnvironment({ config, added: Object.fromEntries(added), nonce }),
    workingDir: config.workingDir,
    nonce,
    leaseToken: leaseToken(request.fence),
    keepWhenDead: true,
  });
  const pane: LivePane = { way, context, server, fence: request.fence, ...opened };
  request.emit({
    type: 'terminal_opened',
    terminalId: terminalIdOf({ nonce, ...opened }),
    label: definition.displayName,
  });
  return pane;
}
