import type { StreamProcess } from '../../spec/stream-process.js';
import { readProcessStatus } from '../../state/process-identity.js';
import { endProcesses, listProcessTree } from '../../state/process-tree.js';
import type { EndReport, EndRequest, SessionContext } from '../session-transport.js';
import { clearRequests } from '../typed-pane/approver.js';
import { listOwnProcesses } from '../typed-pane/session-files.js';
import { forgetFrameState } from './frame-state.js';
import { findStreamProcess } from './stream-files.js';

const MAX_GRACE_MS = 3_000;

/** Ends the CLI and every process that carries the session's nonce. */
export async function endStreamSession(
  way: StreamProcess,
  context: SessionContext,
  { deadlineMs }: EndRequest,
): Promise<EndReport> {
  const process = await findStreamProcess(context);
  const tree = process ? listProcessTree(process.pid) : [];
  // A launcher ends with its CLI; ended before it, it takes the CLI along before that has written all.
  const launcher =
    process && context.config.launcher ? readProcessStatus(process.pid)?.parentPid : undefined;
  const own = listOwnProcesses(context).filter(({ pid }) => pid !== launcher);
  const others = tree.filter(({ pid }) => !own.some((each) => each.pid === pid));
  const graceMs = Math.min(MAX_GRACE_MS, Math.floor(deadlineMs / 2));
  const { ended, left } = await endProcesses([...own, ...others], { graceMs });
  // What was started while the others ended.
  const late = await endProcesses(listOwnProcesses(context), { graceMs: 0 });
  await clearRequests(way, context);
  forgetFrameState(context);
  return {
    ended: ended + late.ended,
    left: [...new Set([...left, ...late.left])],
    archived: false,
  };
}
