import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TypedPane } from '../../spec/typed-pane.js';
import { endProcesses, listProcessTree } from '../../state/process-tree.js';
import type { EndReport, EndRequest, SessionContext } from '../session-transport.js';
import { observeTmuxServer } from '../tmux/observe-tmux-server.js';
import { openTmuxServer } from '../tmux/open-tmux-server.js';
import type { TmuxServer } from '../tmux/tmux-server.js';
import { listOwnProcesses } from './session-files.js';

const MAX_GRACE_MS = 3_000;

/** Ends the CLI, every process that carries the session's nonce, and the pane. */
export async function endTypedSession(
  way: TypedPane,
  context: SessionContext,
  { deadlineMs }: EndRequest,
): Promise<EndReport> {
  await using server = await findServer(context);
  const pane = await server?.findPane({ nonce: context.nonce });
  const tree = pane?.state === 'present' && !pane.dead ? listProcessTree(pane.pid) : [];
  const own = listOwnProcesses(context);
  const others = tree.filter(({ pid }) => !own.some((each) => each.pid === pid));
  const graceMs = Math.min(MAX_GRACE_MS, Math.floor(deadlineMs / 2));
  const { ended, left } = await endProcesses([...own, ...others], { graceMs });
  // What was started while the others ended.
  const late = await endProcesses(listOwnProcesses(context), { graceMs: 0 });
  if (pane?.state === 'present') await server?.killPane(pane.paneId);
  await rm(join(context.filesDir, way.gate.armedFile), { force: true });
  return {
    ended: ended + late.ended,
    left: [...new Set([...left, ...late.left])],
    archived: false,
  };
}

async function findServer({
  tmuxSocket: socketPath,
}: SessionContext): Promise<TmuxServer | undefined> {
  const state = await observeTmuxServer({ socketPath });
  return state === 'running' ? openTmuxServer({ socketPath }) : undefined;
}
