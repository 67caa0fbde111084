import type { CodingOutcome, CodingPatch } from '../coding-job.js';
import { CodingThreadError } from '../coding-thread-error.js';
import { describeWorkerError } from '../worker/worker-error.js';
import type { CodingWorkerSpec, WorkerEnd } from '../worker/worker-spec.js';
import { checkWorkerOutcome } from './check-outcome.js';
import type { WorkerTerminal } from './worker-events.js';
import { WorkerProtocolError } from './worker-protocol-error.js';

/** That a worker was told to stop, and by whom. */
export interface WorkerStop {
  readonly reason: string;
  /** Its own time was over; otherwise somebody wants nothing of it any more. */
  readonly isDeadline: boolean;
}

/** What is known of a worker once it is gone. */
export interface EndedWorker {
  readonly spec: CodingWorkerSpec;
  readonly fault: WorkerProtocolError | undefined;
  readonly stop: WorkerStop | undefined;
  /** Whether it was given its job: without one it did nothing. */
  readonly isStarted: boolean;
  readonly terminal: WorkerTerminal | undefined;
  readonly patch: CodingPatch | undefined;
  /** For people. */
  readonly exit: string;
}

/** How a worker's work ended. Only what it told in good order counts, and no success counts after a cancel. */
export function judgeWorkerEnd(ended: EndedWorker): WorkerEnd {
  const { fault, terminal, stop, isStarted } = ended;
  if (fault && isStarted) return unknown(fault.message);
  if (fault) return failedToStart(fault.message);
  if (terminal) return endOf(ended, terminal);
  if (!isStarted && stop) return { class: 'cancelled', reason: stop.reason };
  if (!isStarted) return failedToStart(`it ended before it was given its job: ${ended.exit}`);
  if (stop) return unknown(`It was told to stop (${stop.reason}) and ended without an answer.`);
  return unknown(`The worker ended without telling its end: ${ended.exit}.`);
}

function endOf(ended: EndedWorker, terminal: WorkerTerminal): WorkerEnd {
  const { stop } = ended;
  try {
    const end = readTerminal(ended, terminal);
    if (end.class === 'unknown') return end;
    if (stop && !stop.isDeadline) return cancelled(stop, end);
    if (end.class !== 'cancelled' || stop) return end;
    return unknown(`The worker was stopped by a stranger: ${end.reason}.`);
  } catch (error) {
    if (!(error instanceof WorkerProtocolError)) throw error;
    return unknown(error.message);
  }
}

function readTerminal({ spec, patch }: EndedWorker, terminal: WorkerTerminal): WorkerEnd {
  const { class: kind, output, error, reason = 'It gave no reason.' } = terminal;
  if (kind === 'unknown' || kind === 'cancelled') return { class: kind, reason };
  if (kind !== 'success') {
    if (error) return { class: 'failed', error };
    throw new WorkerProtocolError('wrong_outcome', 'a failure has an error');
  }
  if (!output) throw new WorkerProtocolError('wrong_outcome', 'a success has an outcome');
  const outcome: CodingOutcome = patch ? { ...output, patch } : output;
  checkWorkerOutcome(spec, outcome);
  return { class: 'success', outcome };
}

/** Whoever cancelled learns the checkpoint of what was committed before, and nothing of it is accepted. */
function cancelled({ reason }: WorkerStop, end: WorkerEnd): WorkerEnd {
  const isCommitted = end.class === 'success';
  return { class: 'cancelled', reason, ...(isCommitted ? { outcome: end.outcome } : {}) };
}

function unknown(reason: string): WorkerEnd {
  return { class: 'unknown', reason: reason.slice(0, 1000) };
}

/** Nothing was begun: the same job may be given to another worker. */
export function failedToStart(why: string): WorkerEnd {
  const error = new CodingThreadError('runner_unfit', `The worker did not start: ${why}`);
  return { class: 'failed', error: describeWorkerError(error) };
}
