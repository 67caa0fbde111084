import type { CodingOutcome, Sha256, ThreadDirective } from '../coding-job.js';
import { CodingThreadError, type CodingThreadErrorKind } from '../coding-thread-error.js';
import { findDifferingFields, type ThreadBinding } from '../contract/thread-binding.js';
import {
  outcomeNow,
  type ThreadOperation,
  type ThreadRecord,
  type ThreadState,
} from './thread-record.js';

/** What is asked of a thread. */
export interface ThreadAsk {
  readonly directive: ThreadDirective;
  readonly binding: ThreadBinding;
  readonly inputDigest: Sha256;
  /** The patch that the findings to be mended were made about. */
  readonly mendedPatch?: Sha256 | undefined;
}

/** Judges a directive against what is kept: the stored outcome of the same job, `undefined` where it may go on, or a typed refusal. */
export function judgeDirective(
  record: ThreadRecord | undefined,
  ask: ThreadAsk,
): CodingOutcome | undefined {
  const { sessionRef, mode } = ask.directive;
  if (!record) {
    if (mode !== 'new') throw refusal('thread_unavailable', sessionRef, 'nothing is kept of it');
    checkMended(undefined, ask);
    return undefined;
  }
  const replayed = replay(record, ask);
  if (replayed) return replayed;
  checkState(record, ask.directive);
  checkBinding(record, ask.binding);
  checkCheckpoint(record, ask.directive);
  if (mode !== 'close') checkMended(record, ask);
  return undefined;
}

function replay(record: ThreadRecord, ask: ThreadAsk): CodingOutcome | undefined {
  const { operationId, sessionRef } = ask.directive;
  const done = record.operations.find((one) => one.operationId === operationId);
  if (!done) return undefined;
  if (done.inputDigest !== ask.inputDigest) {
    const why = 'this operation was begun with another input';
    throw refusal('operation_conflict', sessionRef, why, describe(done));
  }
  if (done.outcome) return outcomeNow(done.outcome, record);
  if (done.phase === 'failed')
    throw refusal('thread_failed', sessionRef, `it failed: ${done.failure}`, describe(done));
  if (done.phase !== 'committed') return undefined;
  throw refusal(
    'thread_stale_checkpoint',
    sessionRef,
    'its outcome is no longer kept',
    describe(done),
  );
}

const ENDED: Readonly<Partial<Record<ThreadState, CodingThreadErrorKind>>> = {
  CLOSED: 'thread_closed',
  ABANDONED: 'thread_abandoned',
  IN_FLIGHT: 'thread_uncertain',
};

function checkState(record: ThreadRecord, { mode, sessionRef }: ThreadDirective): void {
  const { state } = record;
  const ended = ENDED[state];
  const last = record.operations.at(-1);
  if (ended) throw refusal(ended, sessionRef, `it is ${state}`, last && describe(last));
  if (mode === 'new') throw refusal('thread_exists', sessionRef, 'it was begun already');
  if (mode === 'close') return;
  if (state === 'FAILED')
    throw refusal('thread_failed', sessionRef, 'its last turn failed', last && describe(last));
  if (state === 'CLOSING')
    throw refusal('thread_uncertain', sessionRef, 'it is being closed; close it again');
}

function checkBinding(record: ThreadRecord, binding: ThreadBinding): void {
  const differingFields = findDifferingFields(record.binding, binding);
  if (differingFields.length === 0) return;
  throw new CodingThreadError(
    'thread_binding_changed',
    `This thread is bound to another ${differingFields.join(', ')}; use a new session.`,
    { sessionRef: record.sessionRef, differingFields },
  );
}

function checkCheckpoint(
  { nativeId, checkpoint, previousCheckpoint, operations }: ThreadRecord,
  { expectedCheckpoint, sessionRef }: ThreadDirective,
): void {
  if (nativeId === undefined) {
    throw refusal('thread_native_missing', sessionRef, 'no native conversation is known of it');
  }
  if (checkpoint !== undefined && expectedCheckpoint === checkpoint) return;
  const isBehind = expectedCheckpoint === previousCheckpoint;
  const why = isBehind
    ? 'an operation was committed since; adopt its outcome'
    : 'the checkpoint is none of its last two';
  throw refusal('thread_stale_checkpoint', sessionRef, why, {
    isOneOperationBehind: isBehind,
    lastOperationId: operations.at(-1)?.operationId,
  });
}

function checkMended(
  record: ThreadRecord | undefined,
  { mendedPatch, directive }: ThreadAsk,
): void {
  if (mendedPatch === undefined || record?.patch?.patchDigest === mendedPatch) return;
  throw refusal(
    'remediation_mismatch',
    directive.sessionRef,
    'the findings are about another patch',
  );
}

function describe({ operationId, phase, turnId }: ThreadOperation) {
  return { operationId, phase, turnId };
}

function refusal(
  kind: CodingThreadErrorKind,
  sessionRef: string,
  why: string,
  evidence?: CodingThreadError['details']['evidence'],
): CodingThreadError {
  return new CodingThreadError(kind, `The directive is refused: ${why}.`, { sessionRef, evidence });
}
