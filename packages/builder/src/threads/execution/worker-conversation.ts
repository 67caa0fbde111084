import type { Clock, Logger } from '@holdfast/agent';
import { digestOfJson } from '../contract/canonical-json.js';
import type { WorkerEnd } from '../worker/worker-spec.js';
import type { WorkerRun } from './coding-workers.js';
import { FrameReader } from './frame-reader.js';
import { judgeWorkerEnd, type WorkerStop } from './judge-worker-end.js';
import type { StartedWorker } from './started-worker.js';
import { type ExpectedWorker, WorkerEvents } from './worker-events.js';
import { toJson, type WorkerPayload } from './worker-protocol.wire.js';
import { WorkerProtocolError } from './worker-protocol-error.js';

/** How long a worker that told its end may take to end itself. */
const EXIT_MS = 10_000;
/** For what a worker left behind when it ended. */
const LEFTOVER_GRACE_MS = 1_000;
/** How long the rest of the output may take to come once nobody is left who could write it. */
const DRAIN_MS = 5_000;
/** How often is looked whether the deadline was put off, and by how much for the worker to be told. */
const DEADLINE_POLL_MS = 500;
const RENEW_MS = 5_000;

/** What a conversation with a worker is about. */
export interface ConversationParts {
  readonly run: WorkerRun;
  readonly worker: StartedWorker;
  readonly expected: ExpectedWorker;
  readonly graceMs: number;
  readonly clock: Clock;
  readonly logger: Logger | undefined;
}

/** One conversation with one worker, from hello until nothing of it is left. */
export class WorkerConversation {
  readonly #parts: ConversationParts;
  readonly #events: WorkerEvents;
  /** Aborted when the worker is to be ended, whatever it does. */
  readonly #over = new AbortController();
  /** Aborted at the very end: nothing is waited for any more. */
  readonly #done = new AbortController();
  #fault: WorkerProtocolError | undefined;
  #isStarted = false;
  #stop: WorkerStop | undefined;

  constructor(parts: ConversationParts) {
    this.#parts = parts;
    this.#events = new WorkerEvents(parts.expected);
  }

  /** Holds the conversation; what is left of it is judged once the worker and all it started are gone. */
  async hold(): Promise<WorkerEnd> {
    const { worker, run, expected } = this.#parts;
    const reading = this.#read();
    const onAbort = () => this.#tellStop({ reason: reasonOf(run.signal), isDeadline: false });
    run.signal.addEventListener('abort', onAbort, { once: true });
    worker.tell({
      type: 'hello',
      identity: expected.identity,
      expectedCapabilityDigest: expected.capabilityDigest,
    });
    if (run.signal.aborted) onAbort();
    void this.#watchDeadline();
    await Promise.race([reading, worker.exited, aborted(this.#over.signal)]);
    const left = await worker.end(this.#over.signal.aborted ? 0 : LEFTOVER_GRACE_MS);
    await Promise.race([Promise.all([reading, worker.exited]), this.#sleep(DRAIN_MS)]);
    run.signal.removeEventListener('abort', onAbort);
    this.#done.abort();
    worker.release();
    return this.#judge(left);
  }

  /** One task reads; whatever else happens only signals. A frame that was begun is never lost. */
  async #read(): Promise<void> {
    const reader = new FrameReader();
    try {
      for await (const chunk of this.#parts.worker.output) {
        for (const frame of reader.push(chunk)) this.#take(this.#events.take(frame));
      }
    } catch (error) {
      this.#fault =
        error instanceof WorkerProtocolError
          ? error
          : new WorkerProtocolError('frame_unreadable', 'its output cannot be read');
      this.#over.abort();
    }
  }

  #take(payload: WorkerPayload): void {
    const { worker } = this.#parts;
    switch (payload.type) {
      case 'ready':
        this.#start();
        return;
      case 'progress':
        worker.look();
        this.#report(
          payload.message === 'alive' ? { type: 'alive' } : { type: 'step', step: payload.message },
        );
        return;
      case 'usage':
        this.#report({ type: 'usage', usage: payload.usage });
        return;
      case 'terminal':
        worker.endInput();
        void this.#endAfter(Math.min(EXIT_MS, this.#parts.graceMs));
        return;
      default:
    }
  }

  #start(): void {
    if (this.#stop) return;
    const { run, worker, clock } = this.#parts;
    this.#isStarted = true;
    worker.tell({
      type: 'start',
      input: run.spec,
      specDigest: digestOfJson(toJson(run.spec)),
      deadlineMs: Math.max(0, Math.floor(run.deadlineAt() - clock.now())),
    });
  }

  #report(progress: Parameters<WorkerRun['onProgress']>[0]): void {
    const { run, logger } = this.#parts;
    try {
      run.onProgress(progress);
    } catch (error) {
      logger?.error({ err: error, execution_id: run.executionId }, 'progress was not taken');
    }
  }

  /** Told first, so that its turn is interrupted in good order; then it is ended. */
  #tellStop(stop: WorkerStop): void {
    if (this.#stop || this.#events.terminal) return;
    this.#stop = stop;
    this.#parts.worker.tell({ type: 'cancel', reason: stop.reason });
    void this.#endAfter(this.#parts.graceMs);
  }

  async #watchDeadline(): Promise<void> {
    const { run, worker, clock } = this.#parts;
    let told = run.deadlineAt();
    for (;;) {
      const at = run.deadlineAt();
      const leftMs = at - clock.now();
      if (this.#isStarted && at - told >= RENEW_MS) {
        worker.tell({ type: 'renew', deadlineMs: Math.floor(leftMs) });
        told = at;
      }
      if (leftMs <= 0) break;
      if (!(await this.#sleep(Math.min(leftMs, DEADLINE_POLL_MS)))) return;
    }
    this.#tellStop({ reason: 'deadline_exceeded', isDeadline: true });
  }

  async #endAfter(ms: number): Promise<void> {
    if (await this.#sleep(ms)) this.#over.abort();
  }

  /** Whether it came to its end; nothing sleeps on when the conversation is over. */
  async #sleep(ms: number): Promise<boolean> {
    return await this.#parts.clock.sleep(ms, this.#done.signal).then(
      () => true,
      () => false,
    );
  }

  #judge(left: readonly number[]): WorkerEnd {
    const { run, worker, logger, expected } = this.#parts;
    const exit = worker.describeExit();
    logger?.debug({ execution_id: run.executionId, exit }, 'a worker has ended');
    const end = judgeWorkerEnd({
      spec: expected.spec,
      fault: this.#fault,
      stop: this.#stop,
      isStarted: this.#isStarted,
      terminal: this.#events.terminal,
      patch: this.#events.patch,
      exit,
    });
    if (left.length === 0) return end;
    logger?.error({ execution_id: run.executionId, pids: left }, 'a worker left processes behind');
    // What was committed stays so; anything else may still be changed by what runs on.
    return end.class === 'success'
      ? end
      : { class: 'unknown', reason: `Processes of the worker could not be ended: ${left}.` };
  }
}

/** Why a signal aborted, for people. */
export function reasonOf({ reason }: AbortSignal): string {
  const text = typeof reason === 'string' ? reason : reason instanceof Error ? reason.message : '';
  return text.slice(0, 1000) || 'cancelled';
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
