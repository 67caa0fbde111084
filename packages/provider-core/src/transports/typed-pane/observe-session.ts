import type { SessionOwner } from '../../spec/turn.js';
import type { TypedPane } from '../../spec/typed-pane.js';
import { hasAddressSpace, listPids } from '../../state/process-identity.js';
import { listProcessTree } from '../../state/process-tree.js';
import type { ProcessObservation, SessionContext } from '../session-transport.js';
import { findStreamProcess, inStreamFolder } from '../stream-process/stream-files.js';
import { observeTmuxServer } from '../tmux/observe-tmux-server.js';
import { openTmuxServer } from '../tmux/open-tmux-server.js';
import { isTmuxError } from '../tmux/tmux-error.js';
import type { PaneObservation } from '../tmux/tmux-server.js';
import {
  type CliFiles,
  listOwnProcesses,
  listRegistered,
  nativeIdOf,
  readRegistered,
} from './session-files.js';

/** Looks for the session's process: by its pane, and by the nonce in the environment of every process. */
export async function observeSession(
  way: TypedPane,
  context: SessionContext,
): Promise<ProcessObservation> {
  const pane = await findPane(context);
  // A server that does not answer says nothing; that no process carries the nonce says all.
  if (pane.state === 'unknown' && (listPids().length === 0 || (await hasPaneProcess(context)))) {
    return pane;
  }
  if (pane.state === 'present' && !pane.dead) {
    const registered = await readRegistered(way, context, pane.pid);
    const activity = registered?.activity ?? 'unknown';
    return { state: 'alive', activity, tmuxSession: pane.sessionName, pid: pane.pid };
  }
  return observeWithoutPane(way, context);
}

async function hasPaneProcess(context: SessionContext): Promise<boolean> {
  const streamed = await listStreamed(context);
  return listOwnProcesses(context).some(({ pid }) => !streamed.has(pid));
}

/** The session's process without a pane, which is another way's, with what it started: it has lost nothing. */
async function listStreamed(context: SessionContext): Promise<ReadonlySet<number>> {
  const process = await findStreamProcess(inStreamFolder(context));
  return new Set(process ? listProcessTree(process.pid).map(({ pid }) => pid) : []);
}

/** A CLI whose pane is gone ends within moments; until then it may still write its record. */
async function observeWithoutPane(
  way: TypedPane,
  context: SessionContext,
): Promise<ProcessObservation> {
  const own = new Set(listOwnProcesses(context).map(({ pid }) => pid));
  const streamed = await listStreamed(context);
  const registered = await listRegistered(way, context);
  const dying = registered.find(({ pid }) => own.has(pid) && !streamed.has(pid));
  return dying
    ? { state: 'unknown', why: `process ${dying.pid} has lost its pane and has not ended yet` }
    : { state: 'gone' };
}

async function findPane({
  tmuxSocket: socketPath,
  nonce,
}: SessionContext): Promise<PaneObservation> {
  const state = await observeTmuxServer({ socketPath });
  if (state === 'gone') return { state: 'absent' };
  if (state === 'unknown') return { state, why: 'the tmux server does not answer' };
  try {
    await using server = await openTmuxServer({ socketPath });
    return await server.findPane({ nonce });
  } catch (error) {
    if (isTmuxError(error)) return { state: 'unknown', why: error.message };
    throw error;
  }
}

/** A living process that the CLI's registry names for the session and that does not carry our nonce. */
export async function findForeignOwner(
  way: CliFiles,
  context: SessionContext,
): Promise<SessionOwner | undefined> {
  const registered = await listRegistered(way, context);
  const pids = registered
    .filter(({ nativeSessionId }) => nativeSessionId === nativeIdOf(context))
    .map(({ pid }) => pid);
  // These alone are asked: to read the environment of every process takes longer than the rest of a turn's checks.
  const own = new Set(listOwnProcesses(context, pids).map(({ pid }) => pid));
  const foreign = pids.find((pid) => !own.has(pid) && hasAddressSpace(pid));
  return foreign === undefined ? undefined : { kind: 'foreign', pid: foreign };
}
