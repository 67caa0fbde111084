import { SessionBusyError } from '../../errors/turn-error.js';
import type { StreamProcess } from '../../spec/stream-process.js';
import { observePid } from '../../state/process-identity.js';
import type { FoundProcess } from '../../state/process-tree.js';
import type { LeaseFence, SessionActivity, SessionContext } from '../session-transport.js';
import { type FrameState, readFrameState, type StreamAnswer } from './frame-state.js';
import { observeActivity } from './observe-stream.js';
import type { TurnMark } from './turn-mark.wire.js';
import { writeLine } from './write-line.js';

/** A living process and what one open session knows of it. */
export interface LiveStream {
  readonly way: StreamProcess;
  /** With the private folder of this way. */
  readonly context: SessionContext;
  readonly fence: LeaseFence;
  readonly process: FoundProcess;
  readonly delivery: StreamDelivery;
}

/** What submit, steer, interrupt and follow of one open session share. */
export interface StreamDelivery {
  readonly answersRequests: boolean;
  /** Requests that got their answer from us. */
  readonly answered: Set<string>;
  /** Texts put into running turns that may still wait. */
  readonly steered: Set<string>;
  isInterrupted: boolean;
  mark?: TurnMark;
}

/** Whether the process is over, by pid and start time. */
export function isOver({ process }: Pick<LiveStream, 'process'>): boolean {
  return observePid(process.pid, process.startTime) === 'dead';
}

/** What the process has said up to now. */
export function readState({ way, context, process }: LiveStream): Promise<FrameState> {
  return readFrameState(way, context, process);
}

/** What it is doing; unknown once it is gone. */
export async function readActivity(stream: LiveStream): Promise<SessionActivity> {
  if (isOver(stream)) return 'unknown';
  return observeActivity(stream.way, stream.context, stream.process);
}

const ANSWER_POLL_MS = 10;
/** A request is short: a process that does not take it in stands still. */
const WRITE_MS = 10_000;

/** Throws for who has lost the lease: the process is another owner's now, to speak to and to end. */
export function refuseStale({ fence }: Pick<LiveStream, 'fence'>): void {
  if (!fence.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
}

/** Asks the process for something; its answer, or nothing in time. */
export async function ask(
  stream: Omit<LiveStream, 'delivery'>,
  write: (requestId: string) => string,
  deadlineMs: number,
): Promise<StreamAnswer | undefined> {
  const { way, context, process } = stream;
  const requestId: string = crypto.randomUUID();
  refuseStale(stream);
  const outcome = await writeLine(context, process, write(requestId), { deadlineMs: WRITE_MS });
  if (outcome === 'no_process') return undefined;
  const end = context.clock.monotonicMs() + deadlineMs;
  for (;;) {
    const answer = (await readFrameState(way, context, process)).takeAnswer(requestId);
    const isLate = context.clock.monotonicMs() >= end;
    if (answer || isLate || isOver(stream)) return answer;
    await context.clock.sleep(ANSWER_POLL_MS);
  }
}
