import { existsSync } from 'node:fs';
import { uptime } from 'node:os';
import type { StreamProcess } from '../../spec/stream-process.js';
import type { FoundProcess } from '../../state/process-tree.js';
import type { ProcessObservation, SessionActivity, SessionContext } from '../session-transport.js';
import { readFrameState } from './frame-state.js';
import { findStreamProcess, streamFiles } from './stream-files.js';
import { listRequests } from './stream-requests.js';

/** How long after its start a process may take to begin, by itself, the turn that a crash cut off. */
const FINISHING_SECONDS = 20;
/** Start times are told in these. */
const TICKS_PER_SECOND = 100;

/** Looks for the session's process of this way alone, by pid and start time. */
export async function observeStream(
  way: StreamProcess,
  context: SessionContext,
): Promise<ProcessObservation> {
  const process = await findStreamProcess(context);
  if (!process) return { state: 'gone' };
  const { pid, state } = process;
  if (state === 'unknown') return { state, why: `process ${pid} cannot be seen` };
  return { state: 'alive', activity: await observeActivity(way, context, process), pid };
}

/** What the process said last. One that has said nothing yet is idle, unless it is to finish a turn by itself. */
export async function observeActivity(
  way: StreamProcess,
  context: SessionContext,
  process: FoundProcess,
): Promise<SessionActivity> {
  const { activity } = await readFrameState(way, context, process);
  if (activity === 'idle') return activity;
  if ((await listRequests(way, context)).length > 0) return 'waiting';
  // It asks itself: the hook that decides has not written the request down yet, or has its answer.
  if (activity !== undefined) return activity === 'waiting' ? 'busy' : activity;
  return isFinishing(context, process) ? 'busy' : 'idle';
}

function isFinishing(context: SessionContext, { startTime }: FoundProcess): boolean {
  const isMeantTo = existsSync(streamFiles(context).finishing);
  return isMeantTo && uptime() - Number(startTime) / TICKS_PER_SECOND < FINISHING_SECONDS;
}
