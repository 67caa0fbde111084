import type { JsonValue } from '../../persistence/store.js';
import type { CodingOutcome, CodingPatch, Sha256 } from '../coding-job.js';
import type { ThreadBinding } from '../contract/thread-binding.js';

/** What a thread is in. Receipts know only `READY` and `CLOSED`. */
export type ThreadState = 'READY' | 'IN_FLIGHT' | 'FAILED' | 'CLOSING' | 'CLOSED' | 'ABANDONED';

/** How far an operation came, as far as is proven. */
export type OperationPhase =
  | 'claimed'
  | 'native_started'
  | 'turn_submitted'
  | 'result_validated'
  | 'committed'
  | 'failed';

/** What a turn produced, before the thread has taken it in. */
export interface ThreadResult {
  readonly outcome: Omit<CodingOutcome, 'operationId' | 'thread'>;
  /** The adapter's own, such as the model it selected; handed back at the next operation. */
  readonly adapterState?: JsonValue | undefined;
}

/** One logical job on a thread, however often it was tried. */
export interface ThreadOperation {
  readonly operationId: string;
  readonly inputDigest: Sha256;
  readonly phase: OperationPhase;
  readonly turnId?: string | undefined;
  readonly failure?: string | undefined;
  /** Between `result_validated` and `committed`. */
  readonly result?: ThreadResult | undefined;
  /** What a repeat is answered with; the oldest are dropped in time. */
  readonly outcome?: CodingOutcome | undefined;
}

/** A decision that a person or a workflow took about a thread. */
export interface ThreadNote {
  /** ISO 8601. */
  readonly at: string;
  readonly decision: 'adopt' | 'abandon' | 'rollback';
  readonly reason: string;
  readonly evidence?: JsonValue | undefined;
}

/** All that is kept of a thread. */
export interface ThreadRecord {
  readonly binding: ThreadBinding;
  readonly sessionRef: string;
  readonly state: ThreadState;
  readonly nativeId?: string | undefined;
  readonly checkpoint?: string | undefined;
  /** Tells a receipt that was lost from one that was never ours. */
  readonly previousCheckpoint?: string | undefined;
  /** The implementer's cumulative patch. */
  readonly patch?: CodingPatch | undefined;
  readonly adapterState?: JsonValue | undefined;
  readonly operations: readonly ThreadOperation[];
  /** What a close that is not proven goes back to. */
  readonly closingFrom?: 'READY' | 'FAILED' | undefined;
  readonly closeError?: string | undefined;
  readonly notes: readonly ThreadNote[];
  /** ISO 8601. */
  readonly updatedAt: string;
  /** Only that the thread ended is kept, so that its reference is never used again. */
  readonly isTombstone?: true | undefined;
}

const KEPT_OUTCOMES = 16;

/** The record with an operation changed, and the outcomes of the oldest dropped. */
export function withOperation(record: ThreadRecord, operation: ThreadOperation): ThreadRecord {
  const others = record.operations.filter((one) => one.operationId !== operation.operationId);
  const operations = [...others, operation].map((one, index, all) =>
    index < all.length - KEPT_OUTCOMES ? { ...one, outcome: undefined } : one,
  );
  return { ...record, operations };
}

/** A stored outcome with its receipt as the thread is now: it may have been closed since, or begun to be. */
export function outcomeNow(outcome: CodingOutcome, record: ThreadRecord): CodingOutcome {
  const { thread } = outcome;
  if (!thread || thread.checkpoint !== record.checkpoint) return outcome;
  const { sessionRef, checkpoint } = thread;
  if (record.state === 'CLOSED')
    return { ...outcome, thread: { sessionRef, checkpoint, state: 'CLOSED' } };
  const closeError =
    record.state === 'CLOSING' ? 'its close was interrupted; close it again' : thread.closeError;
  return { ...outcome, thread: { ...thread, closeError } };
}
