import { TimedOutError, waitUntil } from '@holdfast/agent';
import type { JsonValue } from '../../persistence/store.js';
import type { CodingOutcome } from '../coding-job.js';
import { isCodingThreadError } from '../coding-thread-error.js';
import { jobOfTurn } from '../contract/coding-turn-spec.wire.js';
import type { CodingWorkerSpec } from '../worker/worker-spec.js';
import type { CodingDesk } from './coding-desk.js';

/** What a thread's record proves of an operation. */
export interface ThreadProof {
  /** There where the operation was committed. */
  readonly outcome?: CodingOutcome | undefined;
  /** Whether nothing was claimed, so that the native conversation is as it was; so too where there is none that is kept. */
  readonly isUntouched: boolean;
  readonly evidence: JsonValue;
}

/** A worker whose host died ends by itself; how long is waited until it has let go of its thread. */
const ORPHAN_WAIT_MS = 60_000;

/** Looks what became of an operation whose worker can no longer say it. Changes nothing. */
export async function findThreadOutcome(
  desk: CodingDesk,
  spec: CodingWorkerSpec,
  signal?: AbortSignal,
): Promise<ThreadProof> {
  const { turn, trusted, operationId } = spec;
  const { thread } = turn;
  if (!thread) return { isUntouched: true, evidence: { operationId, thread: 'none' } };
  const { isFree, outcome } = await openWhenFree(desk, spec, signal);
  const { sessionRef } = thread;
  const view = await desk.threads.inspect({ scope: trusted.scope, sessionRef }).catch(passTyped);
  const phase = view?.operations.find((one) => one.operationId === operationId)?.phase ?? 'none';
  const evidence = {
    operationId,
    state: view?.state ?? 'none',
    phase,
    lock: isFree ? 'free' : 'held',
  };
  return { outcome, evidence, isUntouched: isFree && phase === 'none' };
}

async function openWhenFree(
  { threads, clock }: CodingDesk,
  { turn, trusted }: CodingWorkerSpec,
  signal: AbortSignal | undefined,
): Promise<{ readonly isFree: boolean; readonly outcome?: CodingOutcome | undefined }> {
  const opening = { job: jobOfTurn(turn), trusted };
  const look = async () => {
    try {
      const { thread, replayed } = await threads.open(opening);
      await thread?.[Symbol.asyncDispose]();
      return { isFree: true, outcome: replayed };
    } catch (error) {
      if (isCodingThreadError(error)) return error.kind !== 'thread_busy' && { isFree: true };
      throw error;
    }
  };
  try {
    return await waitUntil(look, {
      awaiting: 'the worker of a host that died to let go of its thread',
      deadlineMs: ORPHAN_WAIT_MS,
      intervalMs: 250,
      layer: 'builder',
      ...{ clock, signal },
    });
  } catch (error) {
    if (error instanceof TimedOutError) return { isFree: false };
    throw error;
  }
}

/** A record that cannot be used proves nothing. */
function passTyped(error: unknown): undefined {
  if (!isCodingThreadError(error)) throw error;
}
