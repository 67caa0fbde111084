import type { ThreadView } from '../store/thread-view.js';

/** What a look at a thread says of an operation whose end nobody told. */
export type ThreadVerdict =
  /** Its result stands in the record, or was validated. */
  | 'adopt'
  /** It was claimed, and only the provider's own record can say whether the turn was taken in. */
  | 'rollback'
  /** Nothing of it was ever claimed. */
  | 'again'
  | 'replace';

/** What the operation was. */
export interface JudgedOperation {
  readonly operationId: string;
  readonly mode: 'new' | 'resume' | 'close';
  readonly expectedCheckpoint?: string | undefined;
  /** Whether its thread is looked for where it was begun: a service with another policy sees others. */
  readonly isSameScope: boolean;
}

/** Judges an operation by its thread. Pure. */
export function judgeThread(view: ThreadView | undefined, asked: JudgedOperation): ThreadVerdict {
  // Without a record only a first operation can have been meant.
  if (!view) return asked.mode === 'new' && asked.isSameScope ? 'again' : 'replace';
  const operation = view.operations.find(({ operationId }) => operationId === asked.operationId);
  if (!operation) return judgeUnclaimed(view, asked);
  if (operation.phase === 'committed' || operation.phase === 'result_validated') return 'adopt';
  return operation.phase !== 'failed' && view.state === 'IN_FLIGHT' ? 'rollback' : 'replace';
}

/** Its thread must be where the operation expected it; otherwise somebody else went on with it. */
function judgeUnclaimed(view: ThreadView, { mode, expectedCheckpoint }: JudgedOperation) {
  const isReady = mode !== 'new' && view.state === 'READY';
  return isReady && view.checkpoint === expectedCheckpoint ? 'again' : 'replace';
}
