import { isoInstant } from '@holdfast/agent';
import type { JsonValue } from '../../persistence/store.js';
import type { CodingOutcome } from '../coding-job.js';
import { CodingThreadError, type CodingThreadErrorKind } from '../coding-thread-error.js';
import { commitRecord } from './commit-record.js';
import {
  lockThread,
  nameThread,
  readThread,
  type ThreadFiles,
  type ThreadPlace,
  writeThread,
} from './thread-files.js';
import {
  outcomeNow,
  type ThreadNote,
  type ThreadOperation,
  type ThreadRecord,
} from './thread-record.js';

/** A decision about a thread, with the reason that is kept. */
export interface ThreadDecision extends ThreadPlace {
  readonly reason: string;
}

/** What the provider's own record says of a claimed turn. */
export interface TurnProof {
  /** `none`: the native history is there, and holds nothing of the turn. */
  readonly turn: 'none' | 'taken' | 'unknown';
  readonly evidence: JsonValue;
}

/** Which turn is to be looked for in the native history. */
export interface TurnInDoubt {
  readonly nativeId: string;
  readonly turnId?: string | undefined;
  /** What the adapter kept of the conversation. */
  readonly adapterState?: JsonValue | undefined;
}

/** Gives the outcome of a committed operation whose receipt was lost; a validated result is committed first. */
export async function adoptOutcome(
  files: ThreadFiles,
  { operationId, ...decision }: ThreadDecision & { readonly operationId?: string | undefined },
): Promise<CodingOutcome> {
  return await decide(files, decision, async (record, write) => {
    const operation = findOperation(record, operationId);
    if (operation?.outcome) return outcomeNow(operation.outcome, record);
    if (record.state !== 'IN_FLIGHT' || operation?.phase !== 'result_validated') {
      throw refuse('thread_uncertain', record, 'no result of it was validated');
    }
    const { committed, outcome } = commitRecord(record, operation, files.clock);
    await write(committed, 'adopt');
    return outcome;
  });
}

/** Gives a thread up: its reference is never used again. One that is closed stays so. */
export async function abandonThread(files: ThreadFiles, decision: ThreadDecision): Promise<void> {
  await decide(files, decision, async (record, write) => {
    if (record.state === 'CLOSED') throw refuse('thread_closed', record, 'it is closed already');
    if (record.state !== 'ABANDONED') await write({ ...record, state: 'ABANDONED' }, 'abandon');
  });
}

/** Takes a claim back where the provider's own record proves that the turn was not taken in. */
export async function rollBackThread(
  files: ThreadFiles,
  {
    prove,
    ...decision
  }: ThreadDecision & {
    readonly prove: (turn: TurnInDoubt) => Promise<TurnProof>;
  },
): Promise<void> {
  await decide(files, decision, async (record, write) => {
    const operation = record.operations.at(-1);
    const { nativeId, checkpoint, adapterState } = record;
    const isInDoubt = record.state === 'IN_FLIGHT' && operation?.phase !== 'result_validated';
    if (!isInDoubt || !operation)
      throw refuse('thread_uncertain', record, 'no turn of it is in doubt');
    if (nativeId === undefined || checkpoint === undefined) {
      throw refuse('thread_uncertain', record, 'it has no checkpoint to go back to; abandon it');
    }
    const { turn, evidence } = await prove({ nativeId, turnId: operation.turnId, adapterState });
    if (turn !== 'none') throw refuse('thread_uncertain', record, `the turn is ${turn}`, evidence);
    const operations = record.operations.slice(0, -1);
    await write({ ...record, state: 'READY', operations }, 'rollback', evidence);
  });
}

type WriteDecision = (
  record: ThreadRecord,
  decision: ThreadNote['decision'],
  evidence?: JsonValue,
) => Promise<void>;

/** Decides under the thread's lock, so never beside a living owner, and keeps a note of what was changed. */
async function decide<Value>(
  files: ThreadFiles,
  { reason, ...place }: ThreadDecision,
  act: (record: ThreadRecord, write: WriteDecision) => Promise<Value>,
): Promise<Value> {
  if (reason.trim() === '') throw new TypeError('A decision about a thread needs a reason.');
  await using lease = await lockThread(files, place);
  const record = await readThread(files, nameThread(place));
  if (!record) {
    const message = 'Nothing is kept of this thread.';
    throw new CodingThreadError('thread_unavailable', message, { sessionRef: place.sessionRef });
  }
  return await act(record, async (changed, decision, evidence) => {
    const note = { at: isoInstant(files.clock), decision, reason, evidence };
    await writeThread(files, { ...changed, notes: [...record.notes, note] }, { lease });
  });
}

function findOperation(
  { operations }: ThreadRecord,
  operationId: string | undefined,
): ThreadOperation | undefined {
  if (operationId === undefined) return operations.at(-1);
  return operations.find((one) => one.operationId === operationId);
}

function refuse(
  kind: CodingThreadErrorKind,
  { sessionRef, state, operations }: ThreadRecord,
  why: string,
  proof?: JsonValue,
): CodingThreadError {
  const phase = operations.at(-1)?.phase;
  const details = { sessionRef, evidence: { state, phase, proof } };
  return new CodingThreadError(kind, `The decision is refused: ${why}.`, details);
}
