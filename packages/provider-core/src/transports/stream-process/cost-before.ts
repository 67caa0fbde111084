import type { StreamProcess } from '../../spec/stream-process.js';
import type { SessionContext } from '../session-transport.js';
import { FrameState, readFrameState } from './frame-state.js';
import { ask, type LiveStream } from './live-stream.js';
import { streamFiles } from './stream-files.js';

const ASK_MS = 5_000;
/** How many digits of a sum the CLI shows people. */
const SHOWN_DIGITS = 4;

/** What the session's last process had cost when it said so last; read before the next one is started. */
export async function readLastCost(
  way: StreamProcess,
  context: SessionContext,
): Promise<number | undefined> {
  const state = new FrameState(way, streamFiles(context).output);
  await state.readOn().catch(() => undefined);
  return state.costUsd;
}

/**
 * Notes what a resumed process counts as spent before its first turn: some go on from where the session's last one ended.
 * They tell it rounded, so the last one's own count is taken where both agree.
 */
export async function noteCostBefore(
  way: StreamProcess,
  context: SessionContext,
  { process, fence }: Pick<LiveStream, 'process' | 'fence'>,
  lastCost: number | undefined,
): Promise<void> {
  const answer = await ask({ way, context, process, fence }, way.write.askCost, ASK_MS);
  const shown = answer?.costUsd;
  if (shown === undefined) return;
  const isSame = lastCost !== undefined && Number(lastCost.toFixed(SHOWN_DIGITS)) === shown;
  const state = await readFrameState(way, context, process);
  state.costUsd = isSame ? lastCost : shown;
}
