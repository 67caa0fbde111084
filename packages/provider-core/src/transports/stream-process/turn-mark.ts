import { writeFileSync } from 'node:fs';
import { readFile, truncate } from 'node:fs/promises';
import type { RecordCursor } from '../../spec/record-event.js';
import type { SessionContext } from '../session-transport.js';
import type { FrameState } from './frame-state.js';
import { streamFiles } from './stream-files.js';
import { type TurnMark, turnMarkSchema } from './turn-mark.wire.js';

/** Beyond it the output is cut between two turns. */
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;

/** Writes down where the turn that is about to begin does so, for whoever follows it after a crash. */
export async function markTurn(
  context: SessionContext,
  state: FrameState,
  cursor: RecordCursor,
): Promise<TurnMark> {
  const files = streamFiles(context);
  const isLong = state.offset > MAX_OUTPUT_BYTES && state.activity === 'idle';
  // The process appends: what it says next stands at the start.
  if (isLong) {
    await truncate(files.output, 0);
    state.noteCut();
  }
  const framesFrom = state.offset;
  const costUsdBefore = state.costUsd ?? (context.acknowledged ? undefined : 0);
  const mark = { framesFrom, costUsdBefore, cursor: { ...cursor } };
  writeFileSync(files.turn, JSON.stringify(mark), { mode: 0o600 });
  return mark;
}

/** The mark of the turn that runs or ran last; the start of the output when none can be read. */
export async function readTurnMark(context: SessionContext): Promise<TurnMark> {
  const whole = { framesFrom: 0, cursor: { length: 0 } };
  try {
    const value: unknown = JSON.parse(await readFile(streamFiles(context).turn, 'utf8'));
    return turnMarkSchema.safeParse(value).data ?? whole;
  } catch {
    return whole;
  }
}
