import type { Clock } from '@holdfast/agent';
import type { CodingOutcome } from '../coding-job.js';
import { mintUuidV7 } from '../contract/uuid.js';
import { type ThreadOperation, type ThreadRecord, withOperation } from './thread-record.js';

/** The record once a validated result is taken in, and the outcome that every repeat is answered with. */
export function commitRecord(
  record: ThreadRecord,
  operation: ThreadOperation,
  clock: Clock,
): { readonly committed: ThreadRecord; readonly outcome: CodingOutcome } {
  const { operationId, inputDigest, turnId, result } = operation;
  if (!result) throw new TypeError('There is no validated result to commit.');
  const checkpoint = mintUuidV7(clock);
  const thread = { sessionRef: record.sessionRef, checkpoint, state: 'READY' } as const;
  const outcome = { ...result.outcome, operationId, thread };
  const taken: ThreadRecord = {
    ...record,
    state: 'READY',
    checkpoint,
    previousCheckpoint: record.checkpoint,
    patch: outcome.patch ?? record.patch,
    adapterState: result.adapterState ?? record.adapterState,
  };
  const done = { operationId, inputDigest, turnId, phase: 'committed', outcome } as const;
  return { committed: withOperation(taken, done), outcome };
}
