import { appendFile, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CliUnusableError,
  NativeHistoryMissingError,
  UncertainDeliveryError,
} from '../../errors/turn-error.js';
import type { LaunchPlan, PlannedFile } from '../../spec/launch-plan.js';
import type { TypedPane } from '../../spec/typed-pane.js';
import { writeFileAtomic } from '../../state/atomic-write.js';
import { endProcesses } from '../../state/process-tree.js';
import { createChildEnvironment, resolveValue } from '../child-environment.js';
import type { OpenRequest, SessionContext } from '../session-transport.js';
import type { PaneObservation, TmuxServer } from '../tmux/tmux-server.js';
import { clearRequests } from './approver.js';
import { createSignalUrl } from './http-signals.js';
import { type LivePane, leaseToken } from './live-pane.js';
import { findRecords, listOwnProcesses, nativeIdOf, spoolPath } from './session-files.js';

/** File in the session's folder that takes what the CLI says as it ends at once. */
export const STDERR_FILE = 'stderr.log';
const LEFTOVER_GRACE_MS = 1_000;

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
  await endLeftovers(launch);
  const resume = await hasConversation(launch);
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

async function checkWorkingDir({ config }: SessionContext): Promise<void> {
  const isFolder = await stat(config.workingDir).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
  if (isFolder) return;
  throw new CliUnusableError(config.workingDir, 'working_dir_missing', 'it is not a folder.');
}

/** Tools outlive the CLI that started them; none may write beside the resumed session. */
async function endLeftovers({ context, server, deadPane }: LaunchPaneRequest): Promise<void> {
  const { left } = await endProcesses(listOwnProcesses(context), { graceMs: LEFTOVER_GRACE_MS });
  if (left.length > 0) {
    throw new CliUnusableError(
      context.binary,
      'unresponsive',
      `process ${left[0]} of an earlier run could not be ended.`,
    );
  }
  if (deadPane.state === 'present') await server.killPane(deadPane.paneId);
}

/** Whether there is something to resume. A record that vanished is never replaced by a fresh session. */
async function hasConversation({
  way,
  context,
  request: { fence },
}: LaunchPaneRequest): Promise<boolean> {
  const id = nativeIdOf(context);
  const [path, ...others] = await findRecords(way, context);
  if (others.length > 0) {
    throw new UncertainDeliveryError({
      what: 'the record of the session stands in more than one folder',
      journal: 'any',
      record: 'untrustworthy',
      process: 'gone',
    });
  }
  if (path === undefined && !context.acknowledged) return false;
  if (path === undefined) {
    throw new NativeHistoryMissingError(id, `no record of it stands in ${context.cliHome}`);
  }
  const record = await readFile(path, 'utf8');
  if (way.holdsConversation(record)) {
    // Nothing else writes the record now: its processes are gone, and the lease is ours.
    const mark = fence.isCurrent() ? way.planResumeMark?.(record, id) : undefined;
    if (mark !== undefined) await appendFile(path, mark);
    return true;
  }
  if (context.acknowledged) throw new NativeHistoryMissingError(id, `${path} holds no message`);
  // The CLI takes the id for used, and has nothing to resume. Kept aside, for it is the CLI's file.
  await rename(path, `${path}.empty-${Buffer.from(context.nonce).toString('hex').slice(0, 8)}`);
  return false;
}

async function writePlannedFiles(
  { filesDir }: SessionContext,
  files: readonly PlannedFile[],
): Promise<void> {
  for (const { name, content, executable } of files) {
    const mode = executable ? 0o700 : 0o600;
    // Planned anew at every launch: a power cut takes nothing that is missed.
    await writeFileAtomic(join(filesDir, name), content, { mode, durable: false });
  }
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
    terminalId: terminalIdOf(pane),
    label: definition.displayName,
  });
  return pane;
}

/** Opaque name of the terminal, the same for every process that looks. A new server numbers its panes from the start. */
export function terminalIdOf({ context, paneId, pid }: LivePane): string {
  return `${context.nonce.slice(0, 8)}${paneId}.${pid}`;
}
