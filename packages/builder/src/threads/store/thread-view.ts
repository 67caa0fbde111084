import type { CodingRole, Sha256 } from '../coding-job.js';
import type { ThreadNote, ThreadOperation, ThreadRecord, ThreadState } from './thread-record.js';

/** What can be seen of a thread without changing anything. */
export interface ThreadView {
  readonly sessionRef: string;
  readonly state: ThreadState;
  readonly stageId: string;
  readonly role: CodingRole;
  readonly checkpoint?: string | undefined;
  readonly previousCheckpoint?: string | undefined;
  readonly patchDigest?: Sha256 | undefined;
  /** For people alone: it is no credential. */
  readonly nativeId?: string | undefined;
  readonly closeError?: string | undefined;
  readonly operations: readonly Omit<ThreadOperation, 'result' | 'outcome'>[];
  readonly notes: readonly ThreadNote[];
  readonly updatedAt: string;
}

/** What is told of a record. */
export function viewThread(record: ThreadRecord): ThreadView {
  const { sessionRef, state, binding, patch, notes, updatedAt, operations } = record;
  const { checkpoint, previousCheckpoint, nativeId, closeError } = record;
  return {
    ...{ sessionRef, state, stageId: binding.stageId, role: binding.role },
    ...{ checkpoint, previousCheckpoint, patchDigest: patch?.patchDigest, nativeId, closeError },
    ...{ notes, updatedAt },
    operations: operations.map(({ result: _result, outcome: _outcome, ...told }) => told),
  };
}
